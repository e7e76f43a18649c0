package adversary

import (
	"fmt"
	"io"
	"path/filepath"
	"time"
)

// Options say what to do.
type Options struct {
	Root     string // of the checkout, for deploy/
	Bin      string // folder with operator and config-reloader
	Out      string // folder for logs, findings and manifests
	Seed     uint64
	Objects  int           // hostile objects to create; 0 is as many as Duration allows
	From     int           // number of the first
	Duration time.Duration // ends the attack earlier
	Batch    int           // objects between two checks
	Alive    int           // objects that exist at the same time
	Workers  int           // that create at the same time
	Restarts int           // of every process, evenly spread
	Requests float64       // hostile HTTP requests per second; 0 is none
	Bound    time.Duration // within which a change of the good tenant is written
	Answer   time.Duration // within which a good HTTP request is answered
	Every    time.Duration // between two lines of progress
	Minimise time.Duration // how long to look for the object behind a finding
	Promtool bool          // build it where it is missing; else the library reads configurations, without most ways of discovery
	Log      io.Writer
}

// Defaults are those of a long run.
func Defaults() Options {
	return Options{
		Root: ".", Bin: "bin", Seed: 1, Objects: 20000, Duration: 3 * time.Hour, Batch: 100, Alive: 300, Workers: 6, Restarts: 3,
		Requests: 10, Bound: 90 * time.Second, Answer: 20 * time.Second, Every: 10 * time.Second, Minimise: 10 * time.Minute, Promtool: true, Log: io.Discard,
	}
}

func (o Options) checked() (Options, error) {
	if o.Batch < 1 || o.Alive < o.Batch || o.Workers < 1 {
		return o, fmt.Errorf("a batch of %d, %d objects at the same time, %d workers: not possible", o.Batch, o.Alive, o.Workers)
	}
	if o.Objects == 0 && o.Duration == 0 {
		return o, fmt.Errorf("neither a number of objects nor a duration is set")
	}
	for _, dir := range []*string{&o.Root, &o.Bin, &o.Out} {
		abs, err := filepath.Abs(*dir)
		if err != nil {
			return o, err
		}
		*dir = abs
	}
	return o, nil
}

func (o Options) deploy(name ...string) string {
	return filepath.Join(append([]string{o.Root, "deploy"}, name...)...)
}
