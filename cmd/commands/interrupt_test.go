package commands

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// hanging starts an API server that accepts connections and never responds. It returns the URL.
func hanging(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var open []net.Conn
	t.Cleanup(func() {
		listener.Close()
		mu.Lock()
		defer mu.Unlock()
		for _, c := range open {
			c.Close()
		}
	})
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, c)
			mu.Unlock()
		}
	}()
	return "http://" + listener.Addr().String()
}

// said is a writer that detects an expected output.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
	want string
	seen chan struct{} // closed when want is in text
	once sync.Once
}

// Write implements [io.Writer].
func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Write(p)
	if strings.Contains(s.text.String(), s.want) {
		s.once.Do(func() { close(s.seen) })
	}
	return len(p), nil
}

// If an API server does not respond, or a pipe has no input, each command reports within
// seconds what it waits for, and one signal ends it.
func TestSignalsEndEveryCommand(t *testing.T) {
	const (
		ends  = 20 * time.Second // generous: on an idle machine it ends immediately
		input = "waiting for standard input"
	)
	server := hanging(t)
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	waits := "waiting for " + server
	live := []string{"--apiserver=" + server}
	free := "--web.listen-address=127.0.0.1:0"
	rows := map[string][]struct {
		args []string
		says string // empty if it ends without a signal
	}{
		"start":             {{append(live, free), "waiting for the API server"}},
		"status":            {{live, waits}},
		"lint":              {{[]string{"-"}, input}, {[]string{pipe}, "still working on " + pipe}},
		"explain":           {{append(live, "servicemonitor/demo/web"), waits}, {[]string{"--offline", "-f", "-", "servicemonitor/demo/web"}, input}, {[]string{"--offline", "-f", "-", "prometheus/demo/main"}, input}},
		"targets":           {{append(live, "prometheus/demo/main"), waits}, {[]string{"--offline", "-f", "-", "prometheus/demo/main"}, input}},
		"render":            {{[]string{"-f", "-"}, input}, {[]string{"-f", pipe}, "still working on " + pipe}},
		"route":             {{append(live, "a=b"), waits}, {[]string{"-f", "-", "a=b"}, input}, {[]string{"--config.file=-", "a=b"}, input}},
		"convert":           {{[]string{"-"}, input}, {[]string{pipe}, "still working on " + pipe}},
		"verify":            {{live, waits}},
		"ui":                {{append(live, free), waits}},
		"crds print":        {{nil, ""}},
		"crds apply":        {{live, waits}},
		"crds diff":         {{live, waits}},
		"full-crds":         {{nil, ""}},
		"admission-webhook": {{[]string{"--no-web.enable-tls", free}, "msg="}},
		"discovery":         {{append(live, free, "--targets-listen-address=127.0.0.1:0", "--leader-elect-namespace=demo"), "waiting for the API server"}},
		versionCommand:      {{nil, ""}},
	}
	signals := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	for _, c := range subcommands(&Options{}) {
		if c.run != nil && rows[c.name] == nil {
			t.Errorf("%s is not tried", c.name)
		}
		for i, row := range rows[c.name] {
			t.Run(strings.Join(append([]string{c.name}, row.args...), " "), func(t *testing.T) {
				t.Parallel()
				out := &said{want: row.says, seen: make(chan struct{})}
				cmd := exec.Command(os.Args[0], slices.Concat(strings.Fields(c.name), row.args)...)
				cmd.Env = append(os.Environ(), asOperator+"=1", "KUBECONFIG=", "HOME="+t.TempDir())
				cmd.Stdout, cmd.Stderr = out, out
				stdin, err := cmd.StdinPipe()
				if err != nil {
					t.Fatal(err)
				}
				defer stdin.Close()
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				defer cmd.Process.Kill() //nolint:errcheck // it has ended unless the test failed
				ended := make(chan error, 1)
				go func() { ended <- cmd.Wait() }()
				if row.says != "" {
					select {
					case <-out.seen:
					case err := <-ended:
						t.Fatalf("it ended: %v\n%s", err, &out.text)
					case <-time.After(30 * time.Second):
						t.Fatalf("it does not say %q", row.says)
					}
					if err := cmd.Process.Signal(signals[(len(c.name)+i)%2]); err != nil {
						t.Fatal(err)
					}
				}
				limit := ends
				if row.says == "" {
					limit = 5 * time.Minute
				}
				select {
				case <-ended:
				case <-time.After(limit):
					t.Fatal("the signal did not end it")
				}
				if state := cmd.ProcessState; !state.Exited() || row.says == "" && state.ExitCode() != 0 {
					t.Errorf("%s\n%s", state, &out.text)
				}
			})
		}
	}
}
