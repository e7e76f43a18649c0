package feed

import (
	"crypto/sha256"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/internal/targetreport"
)

const (
	// reportPause is the minimum time between two reports of a pod.
	reportPause = time.Second
	// maxNamed is the maximum number of targets that one line of the log names, maxLogged that of lines
	// within loggedWithin.
	maxNamed     = 3
	maxLogged    = 20
	loggedWithin = time.Minute
)

// PodReport is a report of a pod about its list and its Prometheus.
type PodReport struct {
	// At is when it arrived.
	At time.Time `json:"at"`
	targetreport.Report
}

// report receives the report of a pod.
func (s *Server) report(w http.ResponseWriter, r *http.Request) {
	if err := s.takeReport(w, r); err != nil {
		s.refuse(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// takeReport identifies the pod before it reads the body.
//
// Errors: *refusal.
func (s *Server) takeReport(w http.ResponseWriter, r *http.Request) error {
	who, err := s.sender(r, targetreport.MaxBytes)
	if err != nil {
		return err
	}
	now := time.Now()
	if err := s.streams.mayReport(now, who.uid); err != nil {
		return err
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, targetreport.MaxBytes))
	if _, tooLong := errors.AsType[*http.MaxBytesError](err); tooLong {
		return errTooLong
	}
	if err != nil {
		return &refusal{code: http.StatusBadRequest, message: "the report cannot be read"}
	}
	got, err := targetreport.Decode(text)
	if err != nil {
		return &refusal{code: http.StatusBadRequest, message: err.Error()}
	}
	version, ok := parseVersion(got.Version)
	fetched, valid := parseVersion(got.Fetched)
	if !ok || !valid {
		return &refusal{code: http.StatusBadRequest, message: "the report has no version"}
	}
	if s.Listener != nil {
		s.Listener.Reported(now, who.sender(), version, fetched, got)
	}
	// Only names of jobs in the list of the pod reach logs and pages.
	got.Jobs = slices.DeleteFunc(got.Jobs, func(j targetreport.Job) bool { return !s.Feed.Has(who.shard, j.Job) })
	got.Scraped = nil // which only the listener needs
	for _, d := range s.streams.put(who.uid, &PodReport{now, got}) {
		s.metrics.disagree(d.kind, d.count)
		s.logDisagreement(now, who, d)
	}
	return nil
}

// sender returns the pod that sends a request with a body of a limited length.
//
// Errors: *refusal.
func (s *Server) sender(r *http.Request, most int64) (who caller, err error) {
	token, err := bearer(r)
	if err != nil {
		return who, err
	}
	if !s.Feed.Leads() {
		return who, later("another replica leads", time.Second)
	}
	if r.ContentLength > most {
		return who, errTooLong
	}
	who, known := s.streams.caller(sha256.Sum256([]byte(token)))
	if !known {
		return s.identify(r, token)
	}
	return who, nil
}

var (
	errTooLong  = &refusal{code: http.StatusRequestEntityTooLarge, message: "the body is too long"}
	errNoStream = &refusal{code: http.StatusConflict, message: "the pod does not follow its list"}
)

// caller returns the pod of the open stream that was opened with a token. The token needs no further review, because
// it is reviewed again for the stream, which ends when it is refused.
func (s *streams) caller(token [sha256.Size]byte) (caller, bool) {
	for _, st := range s.all() {
		if st.token == token {
			return st.caller, true
		}
	}
	return caller{}, false
}

// mayReport checks that a pod has an open stream and does not report too often. A report is kept as long as
// there are streams, so their limits are also those of reports.
//
// Errors: *refusal.
func (s *streams) mayReport(now time.Time, uid types.UID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pods[uid]
	switch {
	case p == nil || len(p.streams) == 0:
		return errNoStream
	case now.Sub(p.reported) < reportPause:
		return errBusy
	}
	p.reported = now
	return nil
}

// disagreement is a number of targets of a job that a report has and the previous one does not.
type disagreement struct {
	job   string
	kind  targetreport.Kind
	count int
	names []string
}

// put stores a report of a pod, and returns the changes since the last one.
func (s *streams) put(uid types.UID, next *PodReport) (out []disagreement) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pods[uid]
	if p == nil {
		return nil // its stream has just ended
	}
	before := map[string]*targetreport.Job{}
	if p.report != nil {
		before = byName(p.report.Jobs)
	}
	now := byName(next.Jobs)
	for _, name := range slices.Sorted(maps.Keys(now)) {
		for _, kind := range targetreport.Kinds {
			is, was := now[name].Of(kind), (*targetreport.Targets)(nil)
			if b := before[name]; b != nil {
				was = b.Of(kind)
			}
			if is == nil {
				continue
			}
			d := disagreement{name, kind, is.Count, is.Names}
			if was != nil {
				d.count -= was.Count
				d.names = slices.DeleteFunc(slices.Clone(is.Names), func(one string) bool { return slices.Contains(was.Names, one) })
			}
			if d.count > 0 {
				out = append(out, d)
			}
		}
	}
	p.report = next
	return out
}

func byName(jobs []targetreport.Job) map[string]*targetreport.Job {
	out := make(map[string]*targetreport.Job, len(jobs))
	for i := range jobs {
		out[jobs[i].Job] = &jobs[i]
	}
	return out
}

// reports returns the last reports of all pods.
func (s *streams) reports() map[types.UID]*PodReport {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make(map[types.UID]*PodReport, len(s.pods))
	for uid, p := range s.pods {
		if p.report != nil && len(p.streams) > 0 {
			out[uid] = p.report
		}
	}
	return out
}

// reported returns the number of pods that have reported, and of the targets about which they disagree.
func (s *streams) reported() (pods, disagreeing int) {
	for _, r := range s.reports() {
		pods++
		disagreeing += r.Disagreements()
	}
	return pods, disagreeing
}

// explanation has a sentence about each kind of disagreement.
var explanation = map[targetreport.Kind]string{
	targetreport.Dropped:  "a Prometheus drops targets of its list",
	targetreport.Missing:  "a Prometheus does not know the targets of its list",
	targetreport.Unlisted: "a Prometheus scrapes targets that are not in its list",
}

// logDisagreement logs a disagreement, the first targets by name.
func (s *Server) logDisagreement(now time.Time, who caller, d disagreement) {
	if !s.logLimit.may(now) {
		return
	}
	s.Log.Warn(explanation[d.kind], "workload", who.shard.Workload.String(), "shard", who.shard.Number, "pod", who.pod.Name,
		"job", d.job, "count", d.count, "targets", d.names[:min(len(d.names), maxNamed)])
}

// logLimit is a rate limit for log messages about disagreements.
type logLimit struct {
	mu    sync.Mutex
	since time.Time
	lines int
}

// may reports whether one more line may be logged, and counts it.
func (t *logLimit) may(now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now.Sub(t.since) >= loggedWithin {
		t.since, t.lines = now, 0
	}
	t.lines++
	return t.lines <= maxLogged
}
