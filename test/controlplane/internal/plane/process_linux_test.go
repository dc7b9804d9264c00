package plane

import (
	"io"
	"os"
	"os/exec"
	"testing"
)

const (
	// actAsParent makes the test binary start a component and wait to be killed.
	actAsParent = "CONTROLPLANE_TEST_PARENT_OF"
)

func TestMain(m *testing.M) {
	program := os.Getenv(actAsParent)
	if program == "" {
		os.Exit(m.Run())
	}
	if _, err := startProcess(program, os.TempDir(), nil); err != nil {
		panic(err)
	}
	select {}
}

func TestNotEvenKillingTheParentLeavesAComponent(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	fifo := t.TempDir() + "/alive"
	if err := exec.Command("mkfifo", fifo).Run(); err != nil {
		t.Fatal(err)
	}
	// The component holds the pipe open for as long as it lives.
	dir := fakeAssets(t, map[string]string{"component": "exec >" + fifo + "\necho up\nexec tail -f /dev/null"})
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), actAsParent+"="+dir+"/component")
	parent.Stderr = os.Stderr
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	alive, err := os.Open(fifo)
	if err != nil {
		t.Fatal(err)
	}
	defer alive.Close()
	up := make([]byte, len("up\n"))
	if _, err := io.ReadFull(alive, up); err != nil {
		t.Fatal(err)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // It was killed, which is an error.
	// Ends when nobody holds the pipe any more; if the component lived on, the
	// test would run into its timeout.
	if _, err := io.ReadAll(alive); err != nil {
		t.Fatal(err)
	}
}
