// Package nearest finds the word that was probably meant where another one was written, for messages that say so. It must not
// know what the words are for.
package nearest
