package delivery

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strconv"
	"testing"
	"time"
)

func TestQueryReadsTheReports(t *testing.T) {
	serve := func(status int, body string) int {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/api/v1/applied" {
				http.NotFound(w, r)
				return
			}
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}))
		t.Cleanup(srv.Close)
		u, err := url.Parse(srv.URL)
		if err != nil {
			t.Fatal(err)
		}
		port, err := strconv.Atoi(u.Port())
		if err != nil {
			t.Fatal(err)
		}
		return port
	}
	config := serve(200, `{"ready":false,"current":{"version":"v","files":[{"input":"/c","inputSha256":"aa"}],"dirs":[{"path":"/config","sha256":"x"}]}}`)
	rules := serve(200, `{"ready":true,"current":{"version":"v","dirs":[{"path":"/rules/a","sha256":"11"},{"path":"/rules/b","sha256":"22"}]}}`)
	fresh := serve(200, `{"ready":false,"targets":[]}`)
	broken := serve(500, `oops`)
	nonsense := serve(200, `<html>`)
	both := map[string]string{"/rules/a": "11", "/rules/b": "22"}
	for name, tc := range map[string]struct {
		ports []int
		want  Content
		reply Answer
	}{
		"everything is there":           {[]int{config, rules}, Content{Config: "aa", Dirs: both}, Confirmed},
		"another configuration":         {[]int{config, rules}, Content{Config: "bb", Dirs: both}, Missing},
		"other rules":                   {[]int{config, rules}, Content{Config: "aa", Dirs: map[string]string{"/rules/a": "12"}}, Missing},
		"a folder nobody speaks about":  {[]int{config}, Content{Config: "aa", Dirs: both}, Missing},
		"nobody answers about folders":  {[]int{config, broken}, Content{Config: "aa", Dirs: both}, Unknown},
		"the configuration is not ours": {[]int{config, rules}, Content{Dirs: both}, Confirmed},
		"nothing was read yet":          {[]int{fresh}, Content{Config: "aa"}, Missing},
		"nobody answers":                {[]int{1, broken, nonsense}, Content{Config: "aa"}, Unknown},
		"one answers":                   {[]int{broken, config}, Content{Config: "aa"}, Confirmed},
	} {
		t.Run(name, func(t *testing.T) {
			got, inTime := Query(t.Context(), Pod{IP: "127.0.0.1", Scheme: "http", Ports: tc.ports}, Wanted{Content: tc.want}, slowLimit)
			if got.Disk != tc.reply || !inTime {
				t.Errorf("Ask = %+v, in time %v, want %d", got, inTime, tc.reply)
			}
		})
	}
}

// A reloader that does not respond in time makes the finding preliminary, whatever those after it report.
func TestOneReloaderIsSlow(t *testing.T) {
	release := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer slow.Close()
	defer close(release)
	quick := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) }))
	defer quick.Close()
	var ports []int
	for _, srv := range []*httptest.Server{slow, quick} {
		ports = append(ports, srv.Listener.Addr().(*net.TCPAddr).Port)
	}
	if _, inTime := Query(t.Context(), Pod{IP: "127.0.0.1", Scheme: "http", Ports: ports}, Wanted{}, quickLimit); inTime {
		t.Error("the finding is final")
	}
}

// TestQueryIsBounded: ports that accept the connection but never respond are queried concurrently,
// within the limit and until the context ends.
func TestQueryIsBounded(t *testing.T) {
	var ports []int
	connected := make(chan struct{})
	for range 2 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		go func() {
			if c, err := l.Accept(); err == nil {
				defer c.Close()
				connected <- struct{}{}
				<-t.Context().Done()
			}
		}()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	silent := Pod{IP: "127.0.0.1", Scheme: "http", Ports: ports, ServerPort: ports[0], RuntimeInfo: "/"}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		for range ports { // sequential requests would reach the second port only after an hour
			<-connected
		}
	}()
	_, _ = Query(ctx, silent, Wanted{}, time.Hour)
	if got, inTime := Query(t.Context(), silent, Wanted{}, quickLimit); inTime || !reflect.DeepEqual(got, Finding{}) {
		t.Errorf("%+v, in time %v", got, inTime)
	}
}
