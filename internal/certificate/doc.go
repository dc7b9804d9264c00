// Package certificate judges what is in the Secrets and ConfigMaps that TLS settings refer to. It says what is wrong in words
// for people, and must never repeat anything of the content: not a byte, not a name that is in it.
package certificate
