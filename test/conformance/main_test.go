package conformance

import (
	"flag"
	"os"
	"testing"
	"time"

	"github.com/gatewright/gatewright/test/kube"
)

// The suite has flags of its own besides these: -version is one of them.
var (
	runSuite = flag.Bool("suite", false, "run the suite, which takes minutes, and write docs/conformance.md")
	only     = flag.String("only", "", "run `tests` of the suite alone, separated by commas, and write nothing")
	patience = flag.Duration("patience", time.Minute, "wait no longer than this for any one condition")
)

func TestMain(m *testing.M) { os.Exit(kube.Run(m)) }
