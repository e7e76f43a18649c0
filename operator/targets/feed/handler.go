package feed

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/targetreport"
)

// Path is the path of streams.
const Path = "/v1/assignments"

// maxToken is the maximum size of a token in bytes.
const maxToken = 16 << 10

// Server serves the lists of a Feed to pods. Its exported fields are set before its first use.
type Server struct {
	Feed     *Feed
	Identity Identity
	Log      *slog.Logger
	// Listener (optional) receives the reports of pods about their lists.
	Listener Listener

	reviews     reviews
	repeats     repeats
	inventories inventories
	streams     streams
	metrics     metrics
	logLimit    logLimit
}

// Register registers the paths of streams, reports and inventories.
func (s *Server) Register(mux *http.ServeMux) {
	mux.Handle("GET "+Path, s)
	mux.HandleFunc("POST "+targetreport.Path, s.report)
	mux.HandleFunc("POST "+targetreport.InventoryPath, s.inventory)
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	st, token, err := s.open(r)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	defer s.streams.leave(st)
	ctx, stop := context.WithCancel(r.Context())
	var reviewing sync.WaitGroup
	defer reviewing.Wait()
	defer stop()
	reviewing.Go(func() { s.review(ctx, st, token) })
	st.run(ctx, w)
}

// open identifies the caller and returns its stream, and the token.
//
// Errors: *refusal.
func (s *Server) open(r *http.Request) (st *stream, token string, err error) {
	query := r.URL.Query()
	have, ok := parseVersion(query.Get("have"))
	if !ok {
		return nil, "", &refusal{code: http.StatusBadRequest, message: "parameter have is no version"}
	}
	if token, err = bearer(r); err != nil {
		return nil, "", err
	}
	who, err := s.identify(r, token)
	if err != nil {
		return nil, "", err
	}
	if _, err := s.Feed.next(who, have); err != nil {
		return nil, "", err
	}
	st = &stream{server: s, caller: who, token: sha256.Sum256([]byte(token)), sent: have, since: time.Now(), packed: acceptsGzip(r.Header), ended: make(chan struct{})}
	return st, token, s.streams.enter(time.Now(), st)
}

// bearer returns the token of a request.
//
// Errors: *refusal.
func bearer(r *http.Request) (string, error) {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok || token == "" || len(token) > maxToken {
		return "", &refusal{code: http.StatusUnauthorized, message: "send the header Authorization: Bearer TOKEN"}
	}
	return token, nil
}

// identify returns the pod that sends a token.
//
// Errors: *refusal.
func (s *Server) identify(r *http.Request, token string) (caller, error) {
	address, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		address = r.RemoteAddr
	}
	end, err := s.reviews.start(time.Now(), address, token)
	if err != nil {
		return caller{}, err
	}
	who, err := s.Identity.caller(r.Context(), s.Feed, token)
	end(time.Now(), err)
	return who, err
}

// refuse responds with the status of an error.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	why, is := errors.AsType[*refusal](err)
	if !is {
		why = &refusal{code: http.StatusInternalServerError, message: "internal error"}
		s.Log.Error("cannot serve targets", "err", err)
	}
	s.metrics.refused(why.code)
	if why.after > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(why.after.Seconds())))
	}
	if why.code == http.StatusForbidden {
		s.Log.Warn("a pod gets no targets", "reason", why.message, "address", r.RemoteAddr)
	}
	http.Error(w, why.message, why.code)
}

// acceptsGzip reports whether a client accepts gzip.
func acceptsGzip(h http.Header) bool {
	for _, value := range h.Values("Accept-Encoding") {
		for one := range strings.SplitSeq(value, ",") {
			name, weight, _ := strings.Cut(strings.TrimSpace(one), ";")
			if name == "gzip" && strings.ReplaceAll(weight, " ", "") != "q=0" {
				return true
			}
		}
	}
	return false
}
