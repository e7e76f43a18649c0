package reload

import (
	"time"
)

// maxRecent limits the changes in a report.
const maxRecent = 16

// Recent is a change of an input or a folder, for clients that poll after several changes and need the time of each.
type Recent struct {
	Path string `json:"path"`
	// SHA256 is the InputSHA256 of a file, or the SHA256 of a folder.
	SHA256 string    `json:"sha256"`
	Found  time.Time `json:"found"` // on disk
	// Loaded is when every server had confirmed a content with this change; absent if they have not, or the path has
	// changed again before they did.
	Loaded time.Time `json:"loaded,omitzero"`
}

// step is a Recent with the number of the first content that includes it.
type step struct {
	Recent
	content uint64
}

// note stores what differs between two contents. The caller holds l.mu.
func (l *Loop) note(before, now Content, at time.Time) {
	add := func(path, sum string) {
		l.recent = append(l.recent, step{Recent{Path: path, SHA256: sum, Found: at}, l.contents})
	}
	files, dirs := map[string]string{}, map[string]string{}
	for _, f := range before.Files {
		files[f.Input] = f.InputSHA256
	}
	for _, d := range before.Dirs {
		dirs[d.Path] = d.SHA256
	}
	for _, f := range now.Files {
		if f.InputSHA256 != files[f.Input] {
			add(f.Input, f.InputSHA256)
		}
	}
	for _, d := range now.Dirs {
		if d.SHA256 != dirs[d.Path] {
			add(d.Path, d.SHA256)
		}
	}
	if n := len(l.recent) - maxRecent; n > 0 {
		l.recent = append([]step(nil), l.recent[n:]...)
	}
}

// lately returns the last changes, the last one last. The caller does not hold l.mu.
func (l *Loop) lately() (out []Recent) {
	l.mu.Lock()
	steps := append([]step(nil), l.recent...)
	l.mu.Unlock()
	for i, s := range steps {
		until := uint64(0) // the path has not changed again
		for _, later := range steps[i+1:] {
			if later.Path == s.Path {
				until = later.content
				break
			}
		}
		for _, t := range l.Targets {
			at := t.loadedBetween(s.content, until)
			if at.IsZero() {
				s.Loaded = at
				break
			}
			if at.After(s.Loaded) {
				s.Loaded = at
			}
		}
		out = append(out, s.Recent)
	}
	return out
}

// load is a confirmation by a server of the content with a number.
type load struct {
	content uint64
	at      time.Time
}

// loaded stores a confirmation. The caller holds t.mu.
func (t *Target) loaded(content uint64, at time.Time) {
	if len(t.loads) == maxRecent {
		t.loads = append([]load(nil), t.loads[1:]...)
	}
	t.loads = append(t.loads, load{content, at})
}

// loadedBetween returns when the server first confirmed a content from one number on, and before another; 0 means no
// end.
func (t *Target) loadedBetween(from, before uint64) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range t.loads {
		if l.content >= from && (before == 0 || l.content < before) {
			return l.at
		}
	}
	return time.Time{}
}
