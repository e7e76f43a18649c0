package thanostest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/child"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/ports"
)

// Server is a running program that is serving and has loaded its rule files.
type Server struct {
	container Container
	process
	lease  *ports.Lease
	client *http.Client
	url    string // without the route prefix
	prefix string
	cmd    *exec.Cmd
	log    log
	ended  chan struct{}
}

// startLimit is for an overloaded machine; 50 ms are typical.
const startLimit = 30 * time.Second

// Start runs the program and returns when it is serving and has loaded its rule files. The caller must stop it; it
// ends with this process at the latest.
//
// Errors: [RefusedError] if it exits instead.
func (p Program) Start(ctx context.Context, c Container) (*Server, error) {
	s := &Server{container: c, ended: make(chan struct{})}
	err := s.prepare()
	if err == nil {
		err = s.run(string(p))
	}
	if err == nil {
		err = s.awaitRules(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// Check starts the program, compares the rule files that it has loaded with those of the container, and stops it.
//
// Errors: [RefusedError] if the program does not start; an error with the rule files that it did not load.
func (p Program) Check(ctx context.Context, c Container) (err error) {
	s, err := p.Start(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	return s.loadedAll(ctx)
}

// prepare creates the folder and allocates ports.
func (s *Server) prepare() error {
	root, err := os.MkdirTemp("", "thanostest-")
	if err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	s.root = root
	if s.lease, err = ports.Take(2); err != nil {
		return err
	}
	s.process = newProcess(s.container, root, s.lease.Ports[0], s.lease.Ports[1])
	if err := s.container.write(root); err != nil {
		return err
	}
	s.prefix = "/" + strings.Trim(s.container.value("--web.route-prefix"), "/")
	s.connect()
	return nil
}

func (s *Server) run(program string) error {
	s.cmd = exec.Command(program, s.args...)
	s.cmd.Dir, s.cmd.Env = s.root, s.env
	s.cmd.Stdout, s.cmd.Stderr = &s.log, &s.log
	child.DiesWithUs(s.cmd)
	if err := s.cmd.Start(); err != nil {
		s.cmd = nil
		return fmt.Errorf("start thanos: %w", err)
	}
	go func() {
		_ = s.cmd.Wait() // the log has the reason
		close(s.ended)
	}()
	return nil
}

// awaitRules returns when the program has loaded its rules. It reports that it is ready before that.
func (s *Server) awaitRules(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		success, err := s.Metric(ctx, reloadSuccessful)
		if err == nil && success == 1 {
			return nil
		}
		select {
		case <-s.ended:
			return refused(s.log.String(), s.root)
		case <-ctx.Done():
			return fmt.Errorf("%w: the last answer of thanos: %w\n%s", context.Cause(ctx), err, s.log.String())
		case <-tick.C:
		}
	}
}

// Stop kills the program, waits until it has exited and removes its files.
func (s *Server) Stop() error {
	if s.cmd != nil {
		_ = s.cmd.Process.Kill() // it may have exited
		<-s.ended
	}
	if s.lease != nil {
		s.lease.Release()
	}
	if s.client != nil {
		s.client.CloseIdleConnections()
	}
	return os.RemoveAll(s.root)
}

// log captures the output of a process. It is safe for concurrent use.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
