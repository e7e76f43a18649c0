package discovery

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"

	"github.com/prometheus/prometheus/discovery"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	"k8s.io/client-go/tools/cache"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// Groups returns the groups that a Prometheus discovery builds from the objects, sorted by source.
// own is the namespace of the workload.
//
// Errors: an unknown role; a selector that cannot be applied.
func (o *Objects) Groups(sd *targets.KubernetesSD, own string) ([]*targetgroup.Group, error) {
	found, err := o.Look(sd, own)
	return found.Groups, err
}

// Look is like [Objects.Groups], and returns a gap, too, if objects are left out, see [Left].
func (o *Objects) Look(sd *targets.KubernetesSD, own string) (targets.Found, error) {
	return o.look(sd, own, func(informers) []*targetgroup.Group { return nil })
}

// look returns the groups of the objects. take may remove some objects first and returns groups in their place.
func (o *Objects) look(sd *targets.KubernetesSD, own string, take func(informers) []*targetgroup.Group) (out targets.Found, err error) {
	in, err := o.informers(sd, own)
	if err != nil {
		return out, err
	}
	if in[sd.Role] == nil {
		return out, fmt.Errorf("role %q does not exist", sd.Role)
	}
	taken := take(in)
	groups, left := in.groups(sd.Role)
	unlabel(lacking(sd.Release, sd.Role), groups)
	if len(taken) > 0 {
		groups = append(groups, taken...)
		slices.SortFunc(groups, bySource)
	}
	return targets.Found{Groups: groups, Gaps: leftOut(sd.Role, left)}, nil
}

// together is the minimum number of objects per builder.
const together = 200

// groups returns the groups of the objects of a role, sorted by source, and the keys of the objects that are left out.
func (in informers) groups(role string) (out []*targetgroup.Group, left []string) {
	return in.groupsBy(role, runtime.GOMAXPROCS(0))
}

// groupsBy divides the objects among several builders. This is possible because a builder handles
// one object after the other and reads no other object of its role.
func (in informers) groupsBy(role string, builders int) (out []*targetgroup.Group, left []string) {
	objects := in[role].store.List()
	parts := slices.Collect(slices.Chunk(objects, max(together, (len(objects)+builders-1)/builders)))
	made, lefts := make([][]*targetgroup.Group, len(parts)), make([][]string, len(parts))
	var running sync.WaitGroup
	for i, part := range parts {
		own := maps.Clone(in)
		for other := range own { // each builder has its own handler, and its own recent pods
			own[other] = &informer{store: in[other].store}
		}
		builder := NewBuilder(role, own.of, func(key string, out bool) {
			if out {
				lefts[i] = append(lefts[i], key)
			}
		})
		for _, object := range part {
			own[role].handler.OnAdd(object, true)
		}
		own[role].handler.OnDelete(End(role))
		running.Go(func() { made[i] = run(builder) })
	}
	running.Wait()
	out = slices.Concat(made...)
	slices.SortFunc(out, bySource)
	return out, slices.Concat(lefts...)
}

func bySource(a, b *targetgroup.Group) int { return cmp.Compare(a.Source, b.Source) }

// run collects the groups of a builder until that of the last event arrives.
func run(builder discovery.Discoverer) (out []*targetgroup.Group) {
	ctx, cancel := context.WithCancel(context.Background())
	ch, done := make(chan []*targetgroup.Group), make(chan struct{})
	go func() {
		builder.Run(ctx, ch)
		close(done)
	}()
	for groups := range ch {
		group := groups[0] // builders send one at a time
		if IsEnd(group.Source) {
			break
		}
		if len(group.Targets) > 0 {
			out = append(out, group)
		}
	}
	cancel()
	<-done
	return out
}

// informers are the objects that a discovery reads, by role; nil for metadata that it does not
// attach.
type informers map[string]*informer

func (o *Objects) informers(sd *targets.KubernetesSD, own string) (informers, error) {
	s, out, without := scopeOf(sd, own), informers{}, lacking(sd.Release, sd.Role)
	for _, kind := range Kinds(sd) {
		objects, err := o.objects(kind.Role, s)
		if err != nil {
			return nil, err
		}
		if out[kind.Role], err = newInformer(see(without, objects)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// of implements Informers.
func (in informers) of(role string) cache.SharedIndexInformer {
	if i := in[role]; i != nil {
		return i
	}
	return nil
}
