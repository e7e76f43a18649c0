package delivery

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/reload"
)

// Content is what a pod should have on its disk.
type Content struct {
	// Config is the SHA-256 in hex of the compressed configuration; empty when
	// it is not ours.
	Config string
	// Dirs are the folders of rules with the sums of their files, as
	// volume.SumFiles makes them.
	Dirs map[string]string
}

// Pod is where the reloaders of a pod answer.
type Pod struct {
	IP     string
	Scheme string // "http" or "https"
	Ports  []int
}

const (
	// askTimeout bounds one question: the pod may be anywhere, or cut off.
	askTimeout = 2 * time.Second
	// maxAnswer bounds what is read of an answer.
	maxAnswer = 1 << 20
)

// client never keeps connections: a pod is asked seldom. The answers are hashes
// of what the operator knows, so nothing is at risk without verification.
var client = &http.Client{Timeout: askTimeout, Transport: &http.Transport{
	DisableKeepAlives: true,
	TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // see above
}}

// Ask asks the reloaders of a pod whether the content is on its disk.
func Ask(ctx context.Context, pod Pod, want Content) Answer {
	var reports []reload.Report
	for _, port := range pod.Ports {
		if report, err := fetch(ctx, pod, port); err == nil {
			reports = append(reports, report)
		}
	}
	switch {
	case len(reports) == 0:
		return Unknown
	case onDisk(reports, want):
		return Confirmed
	}
	return Missing
}

func fetch(ctx context.Context, pod Pod, port int) (reload.Report, error) {
	var report reload.Report
	url := pod.Scheme + "://" + net.JoinHostPort(pod.IP, fmt.Sprint(port)) + "/api/v1/applied"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return report, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return report, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return report, fmt.Errorf("%s: %s", url, resp.Status)
	}
	return report, json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(&report)
}
