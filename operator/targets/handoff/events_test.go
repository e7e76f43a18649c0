package handoff

import (
	"slices"
	"strings"
)

// event is something that can happen.
type event struct {
	name  string
	fault bool
	do    func(w *state)
}

// events returns what can happen in a state.
func (w *state) events() (out []event) {
	add := func(fault bool, name string, do func(w *state)) {
		if (!fault || w.left > 0) && (w.only == nil || slices.Contains(w.only, strings.Fields(name)[0])) {
			out = append(out, event{name: name, fault: fault, do: do})
		}
	}
	add(false, "tick", func(w *state) { w.now = w.now.Add(tick) })
	for i := range w.pods {
		p := &w.pods[i]
		if !p.up {
			add(false, label("restart", i), func(w *state) { w.pods[i].up, w.pods[i].boot, w.pods[i].seq = true, w.pods[i].boot+1, 0 })
			continue
		}
		met := w.m.HasReported(podName[i])
		if !met && w.m.pods[podName[i]] != nil {
			add(false, label("hello", i), func(w *state) { w.hello(i) })
		}
		if w.m.Ready() && met && newer(w.current(i), p.snapshot) {
			add(false, label("deliver", i), func(w *state) { w.take(i, w.current(i)) })
			if p.wire == nil {
				add(true, label("delay", i), func(w *state) { s := w.current(i); w.pods[i].wire = &s })
			}
		}
		if p.wire != nil {
			add(false, label("arrive", i), func(w *state) { w.take(i, *w.pods[i].wire); w.pods[i].wire = nil })
		}
		if known := w.m.pods[podName[i]]; known != nil && p.leader == w.m.leader && (!known.heard || known.boot != p.boot || known.version != p.version || !w.same(known, p)) {
			add(false, label("report", i), func(w *state) { w.m.Report(*w.report(i)) })
			add(true, label("send", i), func(w *state) { w.pods[i].net = w.report(i) })
		}
		add(true, label("crash", i), func(w *state) { w.crash(i) })
	}
	for i := range w.pods {
		if w.pods[i].net != nil {
			add(false, label("receive", i), func(w *state) { w.m.Report(*w.pods[i].net); w.pods[i].net = nil })
			add(true, label("repeat", i), func(w *state) { w.m.Report(*w.pods[i].net) })
		}
	}
	add(true, "leader", func(w *state) {
		for u := range w.unit {
			w.unit[u].late, w.unit[u].moved = nil, false
		}
		w.lead(w.m.leader + 1)
	})
	if w.api {
		add(true, "away", func(w *state) { w.api = false })
	} else {
		add(false, "back", func(w *state) { w.api = true })
	}
	for u := range w.unit {
		v := &w.unit[u]
		if w.api && v.gone {
			add(false, label("found", u), func(w *state) { w.unit[u].gone = false; w.want(u); w.again(u) })
			continue
		} else if w.api {
			add(true, label("lost", u), func(w *state) {
				w.unit[u].gone, w.unit[u].seen, w.unit[u].late, w.unit[u].moved = true, false, nil, false
				w.m.Gone(w.id(u))
			})
		}
		for shard := range w.shards {
			if shard != v.want {
				add(true, plans[u][shard], func(w *state) {
					w.unit[u].want = shard
					w.again(u)
					w.want(u)
				})
			}
		}
	}
	return out
}

// same reports whether the leader knows all units that a pod scrapes.
func (w *state) same(known *pod, p *replica) bool {
	var is uint64
	for u := range w.unit {
		if known.scraped[w.id(u)] {
			is |= 1 << u
		}
	}
	return is == p.scraped
}

func (w *state) hello(i int) {
	p := &w.pods[i]
	if w.m.HasReported(podName[i]) {
		return
	}
	p.wire = nil // it has left the stream of the last leader
	var units []ID
	for u := range w.unit {
		if p.list&(1<<u) != 0 {
			units = append(units, w.id(u))
		}
	}
	scraped := p.scraped
	defer func() {
		for u := range w.unit {
			w.again(u)
		}
	}()
	w.m.Held(podName[i], units, func(id ID) bool { return scraped&(1<<slices.Index(w.units, id.Key)) != 0 })
}

func (w *state) crash(i int) {
	p := &w.pods[i]
	for u := range w.unit {
		if p.list&(1<<u) != 0 {
			w.unit[u].excused, w.unit[u].moved = true, false
		}
	}
	for k := range w.pods { // a list that was sent cannot be revoked
		if wire := w.pods[k].wire; wire != nil {
			own := *wire
			own.gone |= p.list
			w.pods[k].wire = &own
		}
	}
	p.up, p.scraped, p.wire = false, 0, nil
}
