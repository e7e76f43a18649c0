package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/live"
)

// pagesAddress is the default address of `operator ui`. If it is in use, a free port is used.
const pagesAddress = "127.0.0.1:9099"

var pagesURL = regexp.MustCompile(`(?m)^http://\S+/$`)

// pagesFile returns the path of a file of the process that serves the pages.
func (p *place) pagesFile(name string) string {
	return filepath.Join(p.root, ".cache", "demo-pages", name)
}

// servePages starts `operator ui` in the background, where it runs until down, and returns the
// URL of its first page.
func (p *place) servePages(ctx context.Context) (string, error) {
	if err := p.stopPages(ctx); err != nil {
		return "", err
	}
	if _, err := command(ctx, "", nil, "make", "-C", p.root, "build", "PROGRAMS=operator"); err != nil {
		return "", err
	}
	if err := os.MkdirAll(p.pagesFile(""), 0o755); err != nil {
		return "", err
	}
	log, err := os.Create(p.pagesFile("log"))
	if err != nil {
		return "", err
	}
	defer log.Close()
	cmd := exec.Command(filepath.Join(p.root, "bin", "operator"), "ui", "--kubeconfig="+p.kubeconfig, "--web.listen-address="+freeAddress())
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // not killed with the terminal
	if err := cmd.Start(); err != nil {
		return "", err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	if err := os.WriteFile(p.pagesFile("pid"), []byte(strconv.Itoa(cmd.Process.Pid)), 0o644); err != nil {
		return "", err
	}
	return p.pagesServed(ctx, ended)
}

// pagesServed waits for the URL that the process prints.
func (p *place) pagesServed(ctx context.Context, ended <-chan error) (url string, err error) {
	var text []byte
	_, err = live.Until(ctx, time.Minute, func(context.Context) (bool, error) {
		var over bool
		select {
		case <-ended:
			over = true // its output is complete
		default:
		}
		text, err = os.ReadFile(p.pagesFile("log"))
		url = pagesURL.FindString(string(text))
		return url != "" || over, err
	})
	if err == nil && url == "" {
		err = errors.New("it has ended")
	}
	if err != nil {
		return "", fmt.Errorf("operator ui: %w\n%s", err, strings.TrimSpace(string(text)))
	}
	return url, nil
}

// freeAddress returns pagesAddress if it is free, and otherwise an address with any free port.
func freeAddress() string {
	l, err := net.Listen("tcp", pagesAddress)
	if err != nil {
		return "127.0.0.1:0"
	}
	l.Close()
	return pagesAddress
}

// stopPages ends the process that serves the pages, if there is one.
func (p *place) stopPages(ctx context.Context) error {
	text, err := os.ReadFile(p.pagesFile("pid"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	pid, err := strconv.Atoi(string(text))
	if err != nil || pid <= 1 {
		return fmt.Errorf("%s: not the number of a process", p.pagesFile("pid"))
	}
	// The process ID may have been reused. ps fails if no process has it.
	line, _ := command(ctx, "", nil, "ps", "-o", "command=", "-p", strconv.Itoa(pid))
	if strings.Contains(line, filepath.Join(p.root, "bin", "operator")+" ui ") {
		if err := syscall.Kill(-pid, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("end the process %d, which serves the pages: %w", pid, err)
		}
	}
	return os.RemoveAll(p.pagesFile(""))
}
