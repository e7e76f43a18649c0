package child_test

import (
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/child"
)

const roleVar = "CHILD_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVar) {
	case "child":
		never := make(chan os.Signal, 1)
		signal.Notify(never, syscall.SIGUSR1)
		<-never
	case "parent":
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), roleVar+"=child")
		cmd.Stdout = os.Stdout // closed when the last process that holds it exits
		child.DiesWithUs(cmd)
		if err := cmd.Start(); err != nil {
			panic(err)
		}
		os.Stdout.WriteString("started\n")
		_ = cmd.Wait()
	default:
		os.Exit(m.Run())
	}
}

// The child of a killed process is killed too, which closes the pipe they share.
func TestDiesWithUs(t *testing.T) {
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), roleVar+"=parent")
	child.DiesWithUs(parent)
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, len("started\n"))); err != nil {
		t.Fatal(err)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, out); err != nil { // returns when both have exited
		t.Error(err)
	}
	_ = parent.Wait() // it was killed
}

func TestResident(t *testing.T) {
	now, peak, err := child.Resident(os.Getpid())
	if err != nil || now < 1<<20 || peak < now {
		t.Errorf("now %d bytes, at most %d, error %v", now, peak, err)
	}
	if _, _, err := child.Resident(0); err == nil {
		t.Error("no error for a process that does not exist")
	}
}
