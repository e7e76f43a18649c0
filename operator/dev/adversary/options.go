package adversary

import (
	"fmt"
	"io"
	"path/filepath"
	"time"
)

// Options configure a run.
type Options struct {
	Root     string // root of the checkout, for deploy/
	Bin      string // folder with operator and config-reloader
	Out      string // folder for logs, findings and manifests
	Seed     uint64
	Objects  int           // number of hostile objects to create; 0 is unlimited within Duration
	From     int           // number of the first object
	Duration time.Duration // maximum length of the attack
	Batch    int           // number of objects between two checks
	Alive    int           // maximum number of objects that exist at the same time
	Workers  int           // number of concurrent creations
	Restarts int           // restarts of every process, evenly distributed
	Requests float64       // hostile HTTP requests per second; 0 is none
	Bound    time.Duration // maximum time until a change of the well-behaved tenant is written
	Answer   time.Duration // maximum time until a well-behaved HTTP request is answered
	Every    time.Duration // interval of progress lines
	Minimise time.Duration // maximum time for the minimization of findings
	Promtool bool          // build promtool if it is missing; otherwise configurations are parsed by the library, without most discovery mechanisms
	Log      io.Writer
}

// Defaults returns the options of a long run.
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
