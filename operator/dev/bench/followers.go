package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

// follow opens streams of many pods and measures what they cost the discovery service.
func (d *discovery) follow(ctx context.Context, s *service) error {
	ctx, cancel := context.WithCancel(ctx)
	var streams sync.WaitGroup
	defer streams.Wait()
	defer cancel()
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: s.roots, ServerName: "firekeeper-discovery.firekeeper.svc"}, DisableCompression: true,
	}}
	var received, complete atomic.Int64
	before, err := s.kernelUsage()
	if err != nil {
		return err
	}
	for n := range d.followers {
		name, set := d.followerOf(n)
		if err := d.podNamed(ctx, name, set); err != nil {
			return err
		}
		token, err := d.tokenOf(ctx, name, wellknown.DiscoveryAudience)
		if err != nil {
			return err
		}
		body, err := stream(ctx, client, s.address, token)
		if err != nil {
			return err
		}
		streams.Go(func() { drain(body, &received, &complete) })
	}
	for complete.Load() < int64(d.followers) {
		if err := wait(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
	after, err := s.kernelUsage()
	if err != nil {
		return err
	}
	d.add(fmt.Sprintf("%d streams: CPU for all full lists", d.followers), "", ms(after.cpu-before.cpu))
	d.add(fmt.Sprintf("%d streams: memory of the service", d.followers), "", mb(after.rss))
	first := received.Load()
	busy, err := d.during(ctx, d.churn, s.process)
	if err != nil {
		return err
	}
	d.add(fmt.Sprintf("%d streams: CPU with changes", d.followers), "", perSecond(busy.cpu))
	d.add("each stream: received with changes, not compressed", "", fmt.Sprintf("%.1f kB/min", float64(received.Load()-first)/1000/d.length.Minutes()/float64(d.followers)))
	return nil
}

// drain reads a stream until it ends. It counts its bytes in received, and the first complete list in complete.
func drain(body io.ReadCloser, received, complete *atomic.Int64) {
	defer body.Close()
	lines := bufio.NewReaderSize(body, 64<<10)
	for first := true; ; {
		line, err := lines.ReadSlice('\n')
		received.Add(int64(len(line)))
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			return // the context ends
		}
		if first && bytes.HasPrefix(line, []byte(`{"end"`)) {
			first = false
			complete.Add(1)
		}
	}
}

// stream opens the stream of a pod. The service identifies few callers of one address at a time.
func stream(ctx context.Context, client *http.Client, address, token string) (io.ReadCloser, error) {
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+address+"/v1/assignments?have=", nil)
		if err != nil {
			return nil, err
		}
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := client.Do(req)
		if err != nil {
			return nil, err
		}
		if resp.StatusCode == http.StatusOK {
			return resp.Body, nil
		}
		text, err := io.ReadAll(io.LimitReader(resp.Body, 1000))
		if err := errors.Join(err, resp.Body.Close()); err != nil {
			return nil, err
		}
		if resp.StatusCode != http.StatusTooManyRequests {
			return nil, fmt.Errorf("open a stream: %s: %s", resp.Status, text)
		}
		if err := wait(ctx, 200*time.Millisecond); err != nil {
			return nil, err
		}
	}
}
