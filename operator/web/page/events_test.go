package page_test

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
	"github.com/firekeeper-dev/firekeeper/operator/web/page"
)

// listen opens the stream and returns a function that waits for the next change.
func listen(t *testing.T, srv *httptest.Server) (next func() string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, "GET", srv.URL+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" || resp.Header.Get("Content-Encoding") != "" {
		t.Fatalf("%s %v", resp.Status, resp.Header)
	}
	lines := bufio.NewScanner(resp.Body)
	return func() string {
		t.Helper()
		for lines.Scan() {
			if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				return text
			}
		}
		t.Fatalf("the stream has ended: %v", lines.Err())
		return ""
	}
}

// tell waits for a stream and sends changes to it.
func tell(t *testing.T, f *fake, changes ...readers.Change) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, c := range changes {
		for f.change(ctx, c) == 0 {
			if ctx.Err() != nil {
				t.Fatal("nobody listens")
			}
		}
	}
}

func changed(kind, namespace, name string) readers.Change {
	return readers.Change{Kind: readers.ObjectChanged, Object: catalog.Ref{Kind: kind, Namespace: namespace, Name: name}}
}

// TestEvents: a caller gets each change once, and only of objects that it may get.
func TestEvents(t *testing.T) {
	f := &fake{}
	srv := serveWith(t, page.Options{Answers: func() (insight.Answers, error) { return f, nil }, Authorize: func(*http.Request, insight.Object) (access.Rights, error) {
		return may(func(verb string, of schema.GroupResource, namespace string) bool {
			return verb == "get" && of.Group == "monitoring.coreos.com" && of.Resource == "servicemonitors" && namespace == "demo"
		}), nil
	}})
	next := listen(t, srv)
	same := changed("ServiceMonitor", "demo", "web")
	tell(t, f, changed("ServiceMonitor", "secret", "other"), changed("PodMonitor", "demo", "other"), changed("Secret", "demo", "other"), same, same, changed("ServiceMonitor", "demo", "last"))
	var got []string
	for len(got) == 0 || !strings.Contains(got[len(got)-1], "last") {
		got = append(got, next())
	}
	if all := strings.Join(got, "\n"); strings.Contains(all, "other") || !strings.HasPrefix(all, `{"kind":"object","object":{"kind":"ServiceMonitor","namespace":"demo","name":"web"}}`) || len(got) > 3 {
		t.Errorf("heard\n%s", all)
	}
}

// TestEventsEnd: a stream ends when the browser disconnects.
func TestEventsEnd(t *testing.T) {
	f := &fake{}
	ended := make(chan struct{})
	srv := serveWith(t, page.Options{Answers: func() (insight.Answers, error) { return watched{f, ended}, nil }, Authorize: anything})
	ctx, cancel := context.WithCancel(context.Background())
	r, _ := http.NewRequestWithContext(ctx, "GET", srv.URL+"/events", nil)
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	cancel()
	<-ended
}

// watched signals when changes are no longer followed.
type watched struct {
	insight.Answers
	ended chan struct{}
}

func (w watched) Changes(ctx context.Context, _ func(readers.Change)) error {
	<-ctx.Done()
	close(w.ended)
	return ctx.Err()
}

// TestHeadOfEvents: HEAD returns immediately and does not occupy a stream.
func TestHeadOfEvents(t *testing.T) {
	srv := serve(t, &fake{n: 3})
	client := http.Client{Timeout: patience}
	for range 200 { // more than the limit of streams
		r, err := http.NewRequestWithContext(t.Context(), http.MethodHead, srv.URL+"/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if resp.Body.Close(); resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" {
			t.Fatalf("%s %v", resp.Status, resp.Header)
		}
	}
}
