package web

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"
)

// dial sends a request on a raw connection and returns the connection without reading from it.
func dial(t *testing.T, srv *httptest.Server, request string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestSlowReader: a client that does not read does not occupy a slot forever.
func TestSlowReader(t *testing.T) {
	s := newSlots(1, newMetrics())
	s.receiving = 50 * time.Millisecond
	ended := make(chan error, 1)
	srv := httptest.NewServer(s.limit(asStatus, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		var err error
		for part := make([]byte, 1<<20); err == nil; {
			_, err = w.Write(part)
		}
		ended <- err
	})))
	defer srv.Close()
	dial(t, srv, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("ended with %v", err)
	}
	s.free <- struct{}{} // the slot is or becomes free
}

// TestSlowBody: a client that sends a body slowly does not occupy a slot forever either.
func TestSlowBody(t *testing.T) {
	h := New(Options{Mode: Open})
	h.slots.sending = 50 * time.Millisecond
	srv := serve(t, h, newFake())
	c := dial(t, srv, "POST /api/v1/preview HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nkind: ")
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != 400 || !strings.Contains(string(body), "did not arrive whole") {
		t.Errorf("%s %s", resp.Status, body)
	}
}

// TestTimesInOneConnection: the deadlines of one request do not apply to the next one.
func TestTimesInOneConnection(t *testing.T) {
	h := New(Options{Mode: Open})
	h.slots.sending, h.slots.receiving = 500*time.Millisecond, 500*time.Millisecond // enough for one
	srv := serve(t, h, newFake())
	c := dial(t, srv, "")
	read := bufio.NewReader(c)
	for i := range 3 {
		body := strings.Repeat(" ", 10)
		if _, err := fmt.Fprintf(c, "POST /api/v1/preview HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(read, nil)
		if err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != 400 {
			t.Fatalf("request %d: %s %v", i, resp.Status, err)
		}
		<-time.After(2 * h.slots.sending) // longer than any deadline
	}
}
