package main

import (
	"os"

	"github.com/gatewright/gatewright/cmd/gatewright/cli"
)

// version is set at build time.
var version = "dev"

func main() {
	os.Exit(cli.Run(os.Args, version, cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}
