package delivery

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/reload"
)

// Content is what a pod should have on its disk.
type Content struct {
	// Config is the SHA-256 in hex of the compressed configuration; empty when
	// it is not ours.
	Config string
	// Dirs are folders that reloaders watch, such as those of rules and templates, with
	// the sums of their files, as volume.SumFiles makes them.
	Dirs map[string]string
}

// Wanted is a content, and when it was written.
type Wanted struct {
	Content
	// Since is when the operator wrote it, or, with Before, when it found that it had
	// been written already.
	Since  time.Time
	Before bool
}

// Pod is where the reloaders of a pod answer, and its server.
type Pod struct {
	IP     string
	Scheme string // "http" or "https"
	Ports  []int  // of the reloaders; that of config-reloader is the first
	// ServerPort is that of the server. How its last load went, it tells at the path
	// RuntimeInfo as Prometheus does, or at Metrics as Alertmanager does; both empty:
	// nowhere.
	ServerPort           int
	RuntimeInfo, Metrics string
}

// Answer is what a pod says about a content on its disk.
type Answer int

const (
	Unknown   Answer = iota // the pod cannot be asked, or does not say
	Confirmed               // it has the content
	Missing                 // it has another one
)

// Finding is what questions to a pod brought.
type Finding struct {
	Outcome
	Disk Answer
	// Reload is the time of the last successful reload of a server in the pod; zero when
	// nobody says.
	Reload time.Time
}

// maxAnswer bounds what is read of an answer.
const maxAnswer = 1 << 20

// client never keeps connections: a pod is asked seldom. The answers are hashes and
// times of what the operator knows, so nothing is at risk without verification.
var client = &http.Client{
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // see above
	},
}

// reply is what one port said.
type reply struct {
	port   int
	report reload.Report
	err    error
}

// Ask asks a pod what became of a content: all its reloaders at once, and when none
// reports contents, what else tells of loads. No question takes longer than limit.
// inTime is false when one did, so that the finding is not the pod's last word.
func Ask(ctx context.Context, pod Pod, want Wanted, limit time.Duration) (f Finding, inTime bool) {
	replies := make([]reply, len(pod.Ports))
	var wg sync.WaitGroup
	for i, port := range pod.Ports {
		wg.Go(func() {
			replies[i].port = port
			replies[i].err = pod.get(ctx, limit, port, "/api/v1/applied", func(body io.Reader) error {
				return json.NewDecoder(body).Decode(&replies[i].report)
			})
		})
	}
	wg.Wait()
	inTime = true
	reports := false
	for _, r := range replies {
		inTime = inTime && !timedOut(r.err)
		reports = reports || r.err == nil
	}
	switch {
	case reports:
		return findingOf(replies, want.Content), inTime
	case !inTime && limit < slowLimit:
		return Finding{}, false // all of it is asked again with more time
	}
	l := askLoads(ctx, pod, replies, limit)
	inTime = inTime && !timedOut(l.reloaderErr) && !timedOut(l.serverErr)
	last, _, _ := l.last()
	return Finding{Outcome: outcomeOfLoads(l, want, time.Now()), Reload: last}, inTime
}

// statusError is an answer that is not 200.
type statusError int

func (e statusError) Error() string { return "answered " + strconv.Itoa(int(e)) }

func timedOut(err error) bool {
	e, ok := errors.AsType[net.Error](err)
	return ok && e.Timeout() || errors.Is(err, context.DeadlineExceeded)
}

// get hands the body of an answer to decode.
func (p Pod) get(ctx context.Context, limit time.Duration, port int, path string, decode func(io.Reader) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	url := p.Scheme + "://" + net.JoinHostPort(p.IP, strconv.Itoa(port)) + path
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return statusError(resp.StatusCode)
	}
	if err := decode(io.LimitReader(resp.Body, maxAnswer)); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
