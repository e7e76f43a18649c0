package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/reload/reloadtest"
)

func TestServerThatIsNotThere(t *testing.T) {
	s := newSite(t)
	s.put(t, "v0")
	addr := strings.TrimPrefix(s.server.URL, "http://")
	s.server.Close()
	p := start(t, s.args("--watch-interval=300ms", "--retry-interval=200ms")...)
	p.Until("a failed attempt", func() bool { return p.Metric("reloader_reloads_failed_total") != "0" })
	s.put(t, "v1")
	p.Until("several looks", func() bool {
		return len(p.Metric("reloader_config_apply_operations_total")) > 0 && read(t, s.out) == "v1"
	})
	got := make(chan string, 1)
	back := &http.Server{Addr: addr, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Method == "POST" {
			select {
			case got <- r.URL.Path:
			default:
			}
		}
	})}
	go back.ListenAndServe()
	defer back.Close()
	select {
	case path := <-got:
		if path != "/-/reload" {
			t.Errorf("asked for %s", path)
		}
	case <-time.After(time.Minute):
		t.Fatal("no reload after the server came back")
	}
	p.Until("the report", func() bool { return p.Report().Ready })
}

func TestServerThatStarts(t *testing.T) {
	s := newSite(t)
	s.put(t, "v0")
	s.server.SetReady(false)
	p := start(t, s.args("--retry-interval=300ms")...)
	p.Until("the log line", func() bool { return strings.Contains(p.Log.String(), "Server is not ready yet") })
	s.put(t, "v1")
	p.Until("the new output", func() bool { return read(t, s.out) == "v1" })
	if st := s.server.Stats(); st.Requests != 0 {
		t.Errorf("%d requests to a server that is not ready", st.Requests)
	}
	s.server.SetReady(true)
	s.waitLive(t, "v1")
	if st := s.server.Stats(); st.Requests != 1 {
		t.Errorf("%d requests, want one for the newest content", st.Requests)
	}
}

func TestServerThatHangs(t *testing.T) {
	s := newSite(t)
	s.put(t, "v0")
	release := make(chan struct{})
	var held atomic.Bool
	s.server = reloadtest.New(t, func() error {
		if !held.Swap(true) {
			<-release
		}
		return s.load()
	})
	p := start(t, s.args("--reload-timeout=300ms", "--retry-interval=50ms")...)
	p.Until("a timeout", func() bool { return strings.Contains(p.Log.String(), "no answer within 300ms") })
	s.put(t, "v1")
	p.Until("the new output", func() bool { return read(t, s.out) == "v1" })
	close(release)
	s.waitLive(t, "v1")
	p.Until("the report", func() bool { return p.Report().Ready })
	if st := s.server.Stats(); st.MostOpen != 1 {
		t.Errorf("%d requests at once", st.MostOpen)
	}
}

func TestHTTPSWithSelfSignedCertificate(t *testing.T) {
	s := newSite(t)
	s.put(t, "v0")
	s.server = reloadtest.NewTLS(t, s.load)
	start(t, s.args()...)
	s.waitLive(t, "v0")
}

func TestRedirectIsNotFollowed(t *testing.T) {
	s := newSite(t)
	s.put(t, "v0")
	var followed atomic.Bool
	redirecting := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/prefix":
			followed.Store(true)
		case "/-/reload":
			http.Redirect(w, r, "/prefix", http.StatusFound)
		default:
			w.WriteHeader(404)
		}
	}))
	defer redirecting.Close()
	p := start(t, s.args()[0], s.args()[1], "--reload-url="+redirecting.URL+"/-/reload")
	p.Until("the message", func() bool { return strings.Contains(p.Log.String(), "a redirect to /prefix that is not followed") })
	if followed.Load() {
		t.Error("the redirect was followed")
	}
}

func TestEndDuringRetriesIsQuick(t *testing.T) {
	s := newSite(t)
	s.put(t, "bad")
	p := start(t, s.args("--retry-interval=1h")...)
	p.Until("the refusal", func() bool { return strings.Contains(p.Log.String(), "Reload failed") })
	begin := time.Now()
	if code := p.End(); code != 0 || time.Since(begin) > time.Minute { // does not wait for the next retry
		t.Errorf("exit code %d after %v", code, time.Since(begin))
	}
}
