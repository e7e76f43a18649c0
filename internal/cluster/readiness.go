package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// await polls until check succeeds. It gives up when the limit is reached or a program has died.
func (c *Cluster) await(ctx context.Context, what string, limit time.Duration, check func(context.Context) error) error {
	began := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not ready within %s", limit))
	defer cancel()
	report := time.NewTicker(10 * time.Second)
	defer report.Stop()
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	for {
		err := check(ctx)
		if err == nil {
			fmt.Fprintf(c.log, "cluster: %s after %s\n", what, since(began))
			return nil
		}
		for _, p := range c.running {
			select {
			case <-p.exited:
				return p.died()
			default:
			}
		}
		select {
		case <-poll.C:
		case <-report.C:
			fmt.Fprintf(c.log, "cluster: waiting for %s, %s: %v\n", what, since(began), err)
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w: %w", what, context.Cause(ctx), err)
		}
	}
}

// client is an API client with the administrator's token.
type client struct {
	host, token string
	http        *http.Client
}

func (c *Cluster) client() (*client, error) {
	pem, err := os.ReadFile(c.CAFile)
	if err != nil {
		return nil, fmt.Errorf("read CA: %w", err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
	return &client{host: c.Host, token: c.Token, http: &http.Client{Transport: transport, Timeout: 5 * time.Second}}, nil
}

func (a *client) close() { a.http.CloseIdleConnections() }

// get decodes the response for an API path into out, which may be nil.
func (a *client) get(ctx context.Context, path string, out any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.host+path, nil)
	if err != nil {
		return fmt.Errorf("GET %s: %w", path, err)
	}
	req.Header.Set("Authorization", "Bearer "+a.token)
	return fetch(a.http, req, out)
}

func fetch(c *http.Client, req *http.Request, out any) error {
	resp, err := c.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 8<<20))
	switch {
	case err != nil:
		return fmt.Errorf("GET %s: %w", req.URL.Path, err)
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("GET %s: status %d: %s", req.URL.Path, resp.StatusCode, oneLine(body))
	case out != nil:
		return json.Unmarshal(body, out)
	}
	return nil
}

// oneLine shortens a response to one line; of a list of health checks, it returns those that
// failed.
func oneLine(body []byte) string {
	var all, failed []string
	for line := range strings.Lines(string(body)) {
		line = strings.TrimSpace(line)
		if all = append(all, line); strings.HasPrefix(line, "[-]") {
			failed = append(failed, line)
		}
	}
	if len(failed) > 0 {
		all = failed
	}
	return fmt.Sprintf("%.200s", strings.Join(all, "; "))
}

// healthy returns a check of a health endpoint on this machine.
func healthy(url string) func(context.Context) error {
	c := &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	return func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		return fetch(c, req, nil)
	}
}

// nodeReady checks the Ready condition of the node.
func (a *client) nodeReady(ctx context.Context) error {
	var node struct {
		Status struct {
			Conditions []struct{ Type, Status, Message string }
		}
	}
	if err := a.get(ctx, "/api/v1/nodes/"+nodeName, &node); err != nil {
		return err
	}
	for _, cond := range node.Status.Conditions {
		if cond.Type == "Ready" {
			if cond.Status == "True" {
				return nil
			}
			return fmt.Errorf("node is not ready: %s", cond.Message)
		}
	}
	return errors.New("node reports no Ready condition yet")
}
