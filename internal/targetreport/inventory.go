package targetreport

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/jsonstream"
)

// InventoryPath is the path to which pods send inventories.
const InventoryPath = "/v1/inventory"

// AskInventory is the value of a request for an inventory in the stream: {"ask":"inventory"}. The pod sends it
// immediately.
const AskInventory = "inventory"

// InventoryTimeout limits the time from the request with an inventory to its answer.
const InventoryTimeout = 25 * time.Second

// Limits of an inventory. They are wider than those of a list.
const (
	// MaxInventory and MaxInventoryPlain are its maximum sizes in bytes, compressed and not.
	MaxInventory      = 8 << 20
	MaxInventoryPlain = 128 << 20
	// MaxInventoryJobs and MaxInventoryTargets are the maximum numbers of jobs, and of addresses of all of them.
	MaxInventoryJobs    = 20_000
	MaxInventoryTargets = 1_000_000
	// maxInventoryValue is the maximum size of a head, a name of a job, an address, and of what belongs to it.
	maxInventoryValue = 4 << 10
)

// Inventory is the head of an inventory: the targets in the list of a pod, with the number of their series and whether
// Prometheus scrapes them. It is encoded as gzip of one JSON object per line: the head, and one for each job,
//
//	{"version":"7-3","boot":1764230400000,"seq":12}
//	{"job":"serviceMonitor/demo/web/0","targets":{"10.0.0.7:8080":{"series":412,"scraped":true}}}
//
// so that an inventory is never in memory as a whole.
type Inventory struct {
	// Version of the list.
	Version string `json:"version"`
	// Boot and Seq are like those of a Report, with which they share the numbers.
	Boot uint64 `json:"boot"`
	Seq  uint64 `json:"seq"`
	// Blind is true if Prometheus cannot be queried: then only the list is known.
	Blind bool `json:"blind,omitempty"`
	// Unsent is the number of samples of an agent that remote storages do not have yet. Absent for servers, and if it is
	// unknown.
	Unsent *uint64 `json:"unsent,omitempty"`
}

// InventoryTarget are the targets of a job with the same discovered address.
type InventoryTarget struct {
	// Series is the number of samples of their last scrapes after relabeling. Absent if it is unknown.
	Series *uint64 `json:"series,omitempty"`
	// Scraped is true if all of them are active, and each was scraped since it was added to the list.
	Scraped bool `json:"scraped,omitempty"`
}

// InventoryWriter encodes an inventory.
type InventoryWriter struct {
	gz            *gzip.Writer
	line          bytes.Buffer
	out           countingWriter
	plain         int64
	jobs, targets int
}

// NewInventoryWriter writes the inventory to w, job by job. Close ends it.
//
// Errors: of w.
func NewInventoryWriter(w io.Writer, i Inventory) (*InventoryWriter, error) {
	out := &InventoryWriter{out: countingWriter{Writer: w}}
	out.gz, _ = gzip.NewWriterLevel(&out.out, gzip.BestSpeed) // the level is valid
	text, err := json.Marshal(i)
	if err != nil {
		return nil, err
	}
	out.line.Write(append(text, '\n'))
	return out, out.flush()
}

// Job writes the targets of a job by address. Addresses that are too long are left out.
//
// Errors: of the writer; the inventory exceeds the limits.
func (w *InventoryWriter) Job(name string, targets iter.Seq2[string, InventoryTarget]) error {
	if w.jobs++; w.jobs > MaxInventoryJobs || len(name) > MaxName {
		return errInventory
	}
	fmt.Fprintf(&w.line, `{"job":%s,"targets":{`, quote(name))
	separator := ""
	for address, target := range targets {
		if len(address) > MaxName {
			continue
		}
		if w.targets++; w.targets > MaxInventoryTargets {
			return errInventory
		}
		if target.Series != nil {
			target.Series = new(min(*target.Series, maxCount))
		}
		text, err := json.Marshal(target)
		if err != nil {
			return err
		}
		fmt.Fprintf(&w.line, "%s%s:%s", separator, quote(address), text)
		if separator = ","; w.line.Len() >= maxInventoryValue {
			if err := w.flush(); err != nil {
				return err
			}
		}
	}
	w.line.WriteString("}}\n")
	return w.flush()
}

// Close ends the inventory.
//
// Errors: of the writer; the inventory exceeds the limits.
func (w *InventoryWriter) Close() error {
	if err := w.gz.Close(); err != nil {
		return err
	}
	if w.out.n > MaxInventory {
		return errInventory
	}
	return nil
}

// flush compresses the buffer.
func (w *InventoryWriter) flush() error {
	if w.plain += int64(w.line.Len()); w.plain > MaxInventoryPlain || w.out.n > MaxInventory {
		return errInventory
	}
	_, err := w.gz.Write(w.line.Bytes())
	w.line.Reset()
	return err
}

var errInventory = errors.New("the inventory of the targets is too large")

func quote(s string) []byte {
	text, _ := json.Marshal(s) // strings can be marshaled
	return text
}

// countingWriter counts the bytes that are written.
type countingWriter struct {
	io.Writer
	n int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.n += int64(n)
	return n, err
}

// ReadInventory decodes an inventory of at most the limits without having more than one target of it in memory. It
// calls target for each, after it called head once. An address may occur twice if the sender does not follow the
// protocol.
//
// Errors: those of head and target; of from; it is no inventory, or exceeds the limits.
func ReadInventory(from io.Reader, head func(Inventory) error, target func(job, address string, t InventoryTarget) error) error {
	// One byte more is an error, not an end.
	gz, err := gzip.NewReader(io.LimitReader(from, MaxInventory+1))
	if err != nil {
		return fmt.Errorf("the inventory is not valid: %w", err)
	}
	r := inventoryReader{in: jsonstream.New(gz, jsonstream.Limits{Text: MaxInventoryPlain, Value: maxInventoryValue}), target: target}
	var i Inventory
	if err := r.in.Decode(&i); err != nil {
		return fmt.Errorf("the inventory is not valid: %w", err)
	}
	if !valid(i.Version) {
		return fmt.Errorf("the inventory has the version %.100q, which is too long or not printable", i.Version)
	}
	if err := head(i); err != nil {
		return err
	}
	for {
		err := r.job()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case r.stopped != nil:
			return r.stopped
		case err != nil:
			return fmt.Errorf("the inventory is not valid: %w", err)
		}
	}
}

type inventoryReader struct {
	in            *jsonstream.Reader
	target        func(job, address string, t InventoryTarget) error
	jobs, targets int
	stopped       error // of target
}

// job reads a line.
func (r *inventoryReader) job() error {
	name, named := "", false
	return r.in.Object(func(key string) error {
		switch {
		case key == "job" && !named:
			if named = true; r.jobs == MaxInventoryJobs {
				return fmt.Errorf("it has more than %d jobs", MaxInventoryJobs)
			}
			r.jobs++
			return r.in.Decode(&name)
		case key == "targets" && named:
			return r.in.Object(func(address string) error { return r.one(name, address) })
		case key == "job" || key == "targets":
			return errors.New("it has targets without a job, or a line with two jobs")
		}
		return r.in.Skip()
	})
}

func (r *inventoryReader) one(job, address string) error {
	if r.targets == MaxInventoryTargets {
		return fmt.Errorf("it has more than %d targets", MaxInventoryTargets)
	}
	r.targets++
	var t InventoryTarget
	if err := r.in.Decode(&t); err != nil {
		return err
	}
	switch {
	case len(job) > MaxName || len(address) > MaxName:
		return fmt.Errorf("the name %.100q is too long", address)
	case t.Series != nil && *t.Series > maxCount:
		return fmt.Errorf("it has the number %d, which is not within 0 and %d", *t.Series, maxCount)
	}
	r.stopped = r.target(job, address, t)
	return r.stopped
}
