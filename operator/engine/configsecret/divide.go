package configsecret

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/footprint"
	"github.com/firekeeper-dev/firekeeper/operator/config/document"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/share"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// fillPercents are the shares of the room that successive attempts fill. Weights are estimates, and
// parts are not filled to the last byte.
var fillPercents = []int64{95, 85, 70, 50}

// Fit is like [Documents.Write] but leaves out objects of users if not everything fits: from the
// namespaces that hold most, largest object first, as package share selects them. content returns
// what to write, without the objects that were left out before.
//
// Errors: those of Write and of content.
func (d *Documents) Fit(b *workload.Base, live engine.Live, content func() (Content, error)) (Output, error) {
	f := &fitting{Documents: d, base: b, live: live, content: content}
	out, err := f.run()
	out.Left, out.Remedy = f.left, strings.Join(f.remedies, "; ")
	return out, err
}

// fitting is one call of Fit.
type fitting struct {
	*Documents
	base    *workload.Base
	live    engine.Live
	content func() (Content, error)

	left     []share.LeftOut
	remedies []string
}

func (f *fitting) run() (Output, error) {
	c, why, err := f.fitMemory()
	if err != nil {
		return Output{}, err
	}
	if why != nil {
		w := writer{Documents: f.Documents, pair: &f.all, Base: f.base, live: f.live}
		w.out.Size = f.all.config.Size(c.Pieces)
		return w.withheld(why, c), nil
	}
	out, err := f.write(&f.all, f.base, f.live, c)
	if err != nil || out.Withheld == nil || !out.Withheld.divisible(f.base, f.live) {
		f.divided.close()
		return out, err
	}
	return f.fitSecrets(c, out)
}

// fitSecrets leaves out objects until the Secrets can hold the rest. out is the output with all
// objects; it is returned if leaving out objects cannot help.
func (f *fitting) fitSecrets(c Content, out Output) (Output, error) {
	why := out.Withheld
	for _, percent := range fillPercents {
		d, err := f.bySecrets(c, why, percent)
		if err != nil || d.room <= 0 {
			return out, err
		}
		f.leaveOut(d, why)
		if c, err = f.content(); err != nil {
			return Output{}, err
		}
		if out, err = f.write(&f.divided, f.base, f.live, c); err != nil || out.Withheld == nil {
			return out, err
		}
	}
	return out, nil
}

// division is the input of a division: the objects, their sizes and the room for them.
type division struct {
	sources []Source
	objects []share.Object
	room    int
	full    string // the limited resource, for messages
}

func (d *division) add(s Source, bytes int) {
	d.sources = append(d.sources, s)
	d.objects = append(d.objects, share.Object{Namespace: s.Namespace, Name: s.Kind + "/" + s.Name, Bytes: bytes})
}

// within sets the room for the objects, given that the whole content uses used of most bytes. Rules
// in ConfigMaps are among the objects but not in used: leaving them out makes room for others.
func (d *division) within(most, used int64) {
	d.room = int(most-used) + share.Total(d.objects)
}

// leaveOut leaves out the objects that do not fit into the room.
func (f *fitting) leaveOut(d division, why *TooLargeError) {
	if remedy := why.remedy(); !slices.Contains(f.remedies, remedy) {
		f.remedies = append(f.remedies, remedy)
	}
	f.left = append(f.left, share.LeaveOut(d.objects, d.room, d.full, func(i int, why error) { d.sources[i].LeaveOut(why) })...)
}

// slackBytes is the allowance for variables whose values are longer than expected.
const slackBytes = 4 << 10

// inMemory returns the number of bytes that config-reloader writes into an in-memory volume.
func (f *fitting) inMemory(c *Content) int64 {
	need := footprint.InMemoryVolume(int64(f.all.config.Rendered(c.Pieces) + slackBytes))
	if c.Rules.Files > 0 {
		need += int64(c.Rules.Bytes) + int64(c.Rules.Files)*footprint.InMemoryVolume(1)
	}
	return need
}

// fitMemory leaves out objects until the rest fits into config-reloader's memory. It returns the
// content and, if it still does not fit, the reason.
func (f *fitting) fitMemory() (Content, *TooLargeError, error) {
	limit := f.base.ReloaderMemoryLimit()
	room := footprint.MaxPlain(limit)
	c, err := f.content()
	if err != nil || f.inMemory(&c) <= room {
		return c, nil, err
	}
	why := &TooLargeError{Memory: room, Limit: limit, Needs: footprint.MinLimit(f.inMemory(&c)), Divide: c.Origin.Divide}
	for _, percent := range fillPercents {
		d := f.byMemory(&c, room, percent)
		if d.room <= 0 {
			break
		}
		f.leaveOut(d, why)
		if c, err = f.content(); err != nil || f.inMemory(&c) <= room {
			return c, nil, err
		}
	}
	return c, why, nil
}

// byMemory divides the content that config-reloader's memory can hold.
func (f *fitting) byMemory(c *Content, room, percent int64) division {
	d := division{full: fmt.Sprintf("%.1f MiB of plain configuration, for which config-reloader has memory", float64(room)/mib)}
	for s := range c.sources {
		bytes := 0
		for _, p := range s.Pieces {
			bytes += p.Rendered()
		}
		if s.Rule {
			bytes += int(footprint.InMemoryVolume(1))
		}
		d.add(s, bytes)
	}
	d.within(room/100*percent, f.inMemory(c))
	return d
}

// bySecrets divides the room that Secrets have for the compressed configuration.
func (f *fitting) bySecrets(c Content, why *TooLargeError, percent int64) (division, error) {
	d := division{full: fmt.Sprintf("%.1f MiB of compressed configuration, for which there are Secrets", float64(why.Room)/mib)}
	var rules []*document.Piece
	if c.Origin.Rules != nil {
		for s := range c.Origin.Rules {
			rules = append(rules, s.Pieces...)
		}
	}
	weights := map[*document.Piece]int{}
	used := int64(why.Keys)
	for _, of := range []struct {
		a       *document.Assembler
		weighed []*document.Piece
		used    []*document.Piece
	}{{&f.all.config, c.Pieces, c.Pieces}, {&f.all.rules, rules, c.Rules.Pieces}} {
		all, err := of.a.Weights(of.weighed)
		if err != nil {
			return d, err
		}
		for i, p := range of.weighed {
			weights[p] = all[i]
		}
		for _, p := range of.used {
			used += int64(weights[p])
		}
	}
	for s := range c.sources {
		bytes := 0
		for _, p := range s.Pieces {
			bytes += weights[p]
		}
		d.add(s, bytes)
	}
	d.within(int64(why.Room)/100*percent, used)
	return d, nil
}

// sources iterates over the users' objects in the content and the rules that come with it, if any.
func (c *Content) sources(yield func(Source) bool) {
	for _, all := range []func(func(Source) bool){c.Origin.Each, c.Origin.Rules} {
		if all == nil {
			continue
		}
		for s := range all {
			if !yield(s) {
				return
			}
		}
	}
}
