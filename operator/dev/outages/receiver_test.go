package outages

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/snappy"
	"github.com/prometheus/prometheus/prompb"

	"github.com/firekeeper-dev/firekeeper/operator/dev/scene/scenetest"
)

// receiver is a remote-write receiver that records for each series the scrapes whose samples it has received.
type receiver struct {
	url string

	mu   sync.Mutex
	down bool
	// has are the received values of each series: indices of scrapes.
	has map[series]map[int]bool
}

// series is a series [scenetest.Metric] of the target with this pod.
type series struct {
	pod    string
	number int
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{has: map[series]map[int]bool{}}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	r.url = server.URL
	return r
}

// ServeHTTP implements [http.Handler].
func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	down := r.down
	r.mu.Unlock()
	if down {
		http.Error(w, "down", http.StatusServiceUnavailable)
		return
	}
	if err := r.receive(req.Body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}

// receive notes the samples of a request.
func (r *receiver) receive(body io.Reader) error {
	packed, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	text, err := snappy.Decode(nil, packed)
	if err != nil {
		return err
	}
	var request prompb.WriteRequest
	if err := request.Unmarshal(text); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range request.Timeseries {
		labels := map[string]string{}
		for _, l := range one.Labels {
			labels[l.Name] = l.Value
		}
		if labels["__name__"] != scenetest.Metric {
			continue
		}
		number, err := strconv.Atoi(labels["number"])
		if err != nil {
			return err
		}
		of := series{labels["pod"], number}
		if r.has[of] == nil {
			r.has[of] = map[int]bool{}
		}
		for _, s := range one.Samples {
			if !math.IsNaN(s.Value) { // a target or series that is gone
				r.has[of][int(s.Value)] = true
			}
		}
	}
	return nil
}

// outage makes it reject everything for a time.
func (r *receiver) outage(d time.Duration) {
	set := func(down bool) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.down = down
	}
	set(true)
	time.AfterFunc(d, func() { set(false) })
}

// complete returns an error if a sample of a scrape before a time is missing, and the number of samples before it.
func (r *receiver) complete(targets []*target, before time.Time) (samples int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var missing []error
	for _, one := range targets {
		for index, scrape := range one.All() {
			if scrape.At.After(before) {
				break
			}
			lost := 0
			for number := range scrape.Series {
				if samples++; !r.has[series{one.Name, number}][index] {
					lost++
				}
			}
			if lost > 0 {
				missing = append(missing, fmt.Errorf("%d of %d samples of %s, scraped by %s at %s", lost, scrape.Series, one.Name, scrape.By, scrape.At.Format("15:04:05.000")))
			}
		}
	}
	if n := len(missing); n > 20 {
		missing = append(missing[:20], fmt.Errorf("and those of %d scrapes more", n-20))
	}
	return samples, errors.Join(missing...)
}
