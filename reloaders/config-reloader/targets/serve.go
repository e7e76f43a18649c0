package targets

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"time"
)

// prefix is the path of HTTP service discovery. The name of the job follows, escaped.
const prefix = "/sd/"

// ServeHTTP serves the groups of a job to Prometheus. It answers 503 while the job is not in the list: Prometheus then
// keeps its targets.
func (c *Client) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, ours := strings.CutPrefix(r.URL.Path, prefix)
	switch {
	case !ours:
		http.NotFound(w, r)
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "use GET", http.StatusMethodNotAllowed)
		return
	}
	j, version := c.list.jobAt(name)
	if j == nil {
		http.Error(w, "the discovery server has sent no targets of this job yet", http.StatusServiceUnavailable)
		return
	}
	if r.Method == http.MethodGet {
		c.reporter.fetches.note(name, j, version, time.Now())
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		_, _ = w.Write(j.packed) // the client is gone
		return
	}
	plain, err := gzip.NewReader(bytes.NewReader(j.packed))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_, _ = io.Copy(w, plain) // the client has disconnected: decompressing from memory does not fail
}
