package targets

import (
	"sync"
	"time"
)

// away is the time after which a job that Prometheus has not requested is unused, or Prometheus unreachable. It
// requests each job every 5 s.
const away = 20 * time.Second

// fetches are the last requests of Prometheus. It is safe for concurrent use.
type fetches struct {
	mu   sync.Mutex
	jobs map[string]fetch
}

// fetch is the last request of Prometheus for a job.
type fetch struct {
	job     *job
	version Version // of the list in the response
	// since is the time of the first of the requests with this result, last the time of the last one. They were less
	// than away apart.
	since, last time.Time
}

// note records a request.
func (f *fetches) note(name string, j *job, version Version, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.jobs == nil {
		f.jobs = map[string]fetch{}
	}
	one := f.jobs[name]
	if one.job != j || now.Sub(one.last) > away {
		one = fetch{job: j, since: now}
	}
	one.version, one.last = version, now
	f.jobs[name] = one
}

// current returns the jobs that Prometheus still requests, and forgets the others.
func (f *fetches) current(now time.Time) map[string]fetch {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := make(map[string]fetch, len(f.jobs))
	for name, one := range f.jobs {
		if now.Sub(one.last) > away {
			delete(f.jobs, name)
			continue
		}
		out[name] = one
	}
	return out
}
