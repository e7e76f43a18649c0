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

// fillPercents are how much of the room is filled in one attempt after the other: weights are
// estimates, and parts are not filled to the last byte.
var fillPercents = []int64{95, 85, 70, 50}

// Fit is [Documents.Write] that leaves out objects of users where not everything fits: those
// of the namespaces that hold most, the largest first, as package share has it. content returns
// what to write without the objects that were left out before.
//
// Errors: as those of Write, and that of content.
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
		w.out.Size = plainBytes(c.Pieces)
		return w.withheld(why, c), nil
	}
	out, err := f.write(&f.all, f.base, f.live, c)
	if err != nil || out.Withheld == nil || !out.Withheld.divisible(f.base, f.live) {
		f.divided.close()
		return out, err
	}
	return f.fitSecrets(c, out)
}

// fitSecrets leaves out objects until Secrets hold the rest, where that helps. out is the
// output with everything.
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

// division is what is to be divided: sources and what they take, and how much there is.
type division struct {
	sources []Source
	objects []share.Object
	room    int
	full    string // what there is too little of
}

func (d *division) add(s Source, bytes int) {
	d.sources = append(d.sources, s)
	d.objects = append(d.objects, share.Object{Namespace: s.Namespace, Name: s.Kind + "/" + s.Name, Bytes: bytes})
}

// within sets the room for the objects when everything takes used bytes of most. Rules that
// are in ConfigMaps are among the objects and not in used: they leave their place to others.
func (d *division) within(most, used int64) {
	d.room = int(most-used) + share.Total(d.objects)
}

// leaveOut leaves out the objects for which there is no room.
func (f *fitting) leaveOut(d division, why *TooLargeError) {
	if remedy := why.remedy(); !slices.Contains(f.remedies, remedy) {
		f.remedies = append(f.remedies, remedy)
	}
	f.left = append(f.left, share.LeaveOut(d.objects, d.room, d.full, func(i int, why error) { d.sources[i].LeaveOut(why) })...)
}

// slackBytes is what a configuration may grow by when config-reloader puts in values of the
// environment.
const slackBytes = 4 << 10

// inMemory is what config-reloader writes into a volume in memory, in bytes.
func (c *Content) inMemory() int64 {
	need := footprint.InMemoryVolume(int64(plainBytes(c.Pieces) + slackBytes))
	if c.Rules.Files > 0 {
		need += int64(c.Rules.Bytes) + int64(c.Rules.Files)*footprint.InMemoryVolume(1)
	}
	return need
}

func plainBytes(pieces []*document.Piece) (n int) {
	for _, p := range pieces {
		n += p.Size()
	}
	return n
}

// fitMemory leaves out objects until config-reloader has memory for the rest, and returns the
// content, and why it does not fit even so.
func (f *fitting) fitMemory() (Content, *TooLargeError, error) {
	limit := f.base.ReloaderMemoryLimit()
	room := footprint.MaxPlain(limit)
	c, err := f.content()
	if err != nil || c.inMemory() <= room {
		return c, nil, err
	}
	why := &TooLargeError{Memory: room, Limit: limit, Needs: footprint.MinLimit(c.inMemory()), Divide: c.Origin.Divide}
	for _, percent := range fillPercents {
		d := c.byMemory(room, percent)
		if d.room <= 0 {
			break
		}
		f.leaveOut(d, why)
		if c, err = f.content(); err != nil || c.inMemory() <= room {
			return c, nil, err
		}
	}
	return c, why, nil
}

// byMemory divides what config-reloader has memory for.
func (c *Content) byMemory(room, percent int64) division {
	d := division{full: fmt.Sprintf("%.1f MiB of plain configuration, for which config-reloader has memory", float64(room)/mib)}
	for s := range c.sources {
		bytes := 0
		for _, p := range s.Pieces {
			bytes += p.Size()
		}
		if s.Rule {
			bytes += int(footprint.InMemoryVolume(1))
		}
		d.add(s, bytes)
	}
	d.within(room/100*percent, c.inMemory())
	return d
}

// bySecrets divides the room of Secrets for the compressed configuration.
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

// sources are the objects of users in the content, and their rules if some come with it.
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
