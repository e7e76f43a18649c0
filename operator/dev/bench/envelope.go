package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/firekeeper-dev/firekeeper/operator/dev/bench/envelope"
)

// whole is the command envelope: all parts, at all sizes.
type whole struct {
	*options
	only  []string
	quick bool
	page  string

	texts []string // of the parts until now
}

// measure returns a column of a part, which was measured with the objects of a size.
type measure func(*whole, context.Context, envelope.Size) ([]float64, error)

// measures are how the parts are measured, by name.
var measures = map[string]measure{
	"monitors": func(w *whole, ctx context.Context, n envelope.Size) ([]float64, error) {
		return w.grow(ctx, together(n[0], n[1], n[2]))
	},
	"workloads": func(w *whole, ctx context.Context, n envelope.Size) ([]float64, error) {
		return w.grow(ctx, together(n[1], n[2], n[0]))
	},
	"tenants": func(w *whole, ctx context.Context, n envelope.Size) ([]float64, error) {
		return w.grow(ctx, apart(n[0], n[1], n[2]))
	},
	"sustained": func(w *whole, ctx context.Context, n envelope.Size) ([]float64, error) {
		return w.sustained(ctx, together(n[1], n[2], 1), n[0])
	},
	"pods": func(w *whole, ctx context.Context, n envelope.Size) ([]float64, error) { return w.pods(ctx, n[0]) },
}

func together(monitors, rules, workloads int) size {
	return size{subject: prometheus, counts: []int{monitors, rules}, owners: workloads}
}

func apart(monitors, rules, workloads int) size {
	return size{subject: prometheus, counts: []int{monitors, rules}, owners: workloads, apart: true}
}

// bindEnvelope declares the flags of the command envelope.
func bindEnvelope(cmd *kingpin.CmdClause, o *options) *whole {
	w := &whole{options: o}
	cmd.Flag("only", "Measure this part only: "+strings.Join(envelope.Names(), ", ")+". Repeatable.").EnumsVar(&w.only, envelope.Names()...)
	cmd.Flag("quick", "Measure at small sizes, for a test of the command. The page is not changed.").BoolVar(&w.quick)
	cmd.Flag("out", "File for the tables, rewritten with each column.").Default("bin/envelope.md").StringVar(&w.out)
	cmd.Flag("page", "Page in whose section each complete part is replaced. Empty means none.").Default("docs/performance.md").StringVar(&w.page)
	return w
}

// run measures all parts. A part that fails does not stop the others.
func (w *whole) run(ctx context.Context) error {
	w.restart, w.idle, w.samples, w.versions = true, 15*time.Second, 20, &versions{}
	if w.quick {
		w.page, w.idle, w.samples = "", 2*time.Second, 3
	}
	if w.page != "" {
		page, err := os.ReadFile(w.page)
		if err != nil {
			return fmt.Errorf("--page: %w", err)
		}
		if _, err := envelope.Replace(string(page), envelope.Parts[0], ""); err != nil {
			return fmt.Errorf("--page=%s: %w", w.page, err)
		}
	}
	if err := os.MkdirAll(filepath.Dir(w.out), 0o755); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	var errs []error
	for _, p := range envelope.Parts {
		if len(w.only) > 0 && !slices.Contains(w.only, p.Name) {
			continue
		}
		began := time.Now()
		if err := w.part(ctx, p); err != nil {
			w.say("%s: %v", p.Name, err)
			errs = append(errs, fmt.Errorf("%s: %w", p.Name, err))
		}
		w.say("%s took %s", p.Name, time.Since(began).Round(time.Second))
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(errs...)
}

// part measures a part, writes it with each of its columns, and into the page when it is complete.
func (w *whole) part(ctx context.Context, p *envelope.Part) error {
	sizes := p.Sizes
	if w.quick {
		sizes = p.Quick
	}
	day := time.Now()
	var columns []envelope.Column
	var touches []time.Duration
	for i, s := range sizes {
		w.say("%s, %d of %d: %s", p.Name, i+1, len(sizes), s)
		touches = append(touches, touch())
		began := time.Now()
		values, err := measures[p.Name](w, ctx, s)
		if err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
		columns = append(columns, envelope.Column{Size: s, Values: values})
		w.say("%s, %d of %d took %s", p.Name, i+1, len(sizes), time.Since(began).Round(time.Second))
		text := strings.Join(append(slices.Clone(w.texts), p.Write(w.versions.measured(day)+hostMemory(touches), columns)), "\n")
		if err := os.WriteFile(w.out, []byte(text), 0o644); err != nil {
			return err
		}
	}
	text := p.Write(w.versions.measured(day)+hostMemory(touches), columns)
	w.texts = append(w.texts, text)
	if w.page == "" {
		return nil
	}
	return w.publish(p, text)
}

// publish replaces a part in the page.
func (w *whole) publish(p *envelope.Part, text string) error {
	page, err := os.ReadFile(w.page)
	if err != nil {
		return err
	}
	next, err := envelope.Replace(string(page), p, text)
	if err != nil {
		return fmt.Errorf("%s: %w", w.page, err)
	}
	return os.WriteFile(w.page, []byte(next), 0o644)
}
