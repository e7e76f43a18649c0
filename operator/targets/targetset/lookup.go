package targetset

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/prometheus/prometheus/discovery/targetgroup"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// Page calls each with the results of the first groups after a key that may have targets selected
// by a filter, in order, until it returns false. It looks at up to most groups; last is the key for
// the next call, nil at the end.
func (f *Followed) Page(after *Key, most int, of Filter, each func(Key, targets.Result) bool) (last *Key) {
	f.reading.Lock()
	defer f.reading.Unlock()
	keys := f.set.Keys(after, most, of)
	for i := range keys {
		if group := f.group(keys[i]); group != nil && !each(keys[i], f.set.Result(keys[i], group, of.Shard)) {
			return &keys[i]
		}
	}
	if len(keys) < most {
		return nil
	}
	return &keys[len(keys)-1]
}

// Result returns the result of one group; ok is false if it does not exist.
func (f *Followed) Result(key Key, shard int) (r targets.Result, ok bool) {
	f.reading.Lock()
	defer f.reading.Unlock()
	group := f.group(key)
	if group == nil {
		return r, false
	}
	return f.set.Result(key, group, shard), true
}

// group returns a group of the set; nil if it does not exist.
func (f *Followed) group(key Key) *targetgroup.Group {
	if key.Discovery != static {
		if f.within != nil {
			return f.within.group(key)
		}
		if key.Discovery < 0 || key.Discovery >= len(f.subs) {
			return nil
		}
		return f.subs[key.Discovery].Group(key.Source)
	}
	i, err := strconv.Atoi(key.Source)
	if err != nil || i < 0 || i >= len(f.job.Static) {
		return nil
	}
	return f.job.Static[i]
}

// In calls each with the groups of objects in a namespace ("" for cluster-scoped objects) and of
// static_configs for which has returns true. The result is cached in memo for other jobs with the
// same discovery.
func (f *Followed) In(namespace string, memo Memo, has func(*targetgroup.Group) bool, each func(Key)) {
	if f.within != nil {
		f.within.in(namespace, has, each)
		f.static(has, each)
		return
	}
	for i, sub := range f.subs {
		key := fmt.Sprintf("%+v", *f.sds[i])
		found, known := memo[key]
		if !known {
			found = []string{}
			sub.In(namespace, func(source string, group *targetgroup.Group) {
				if has(group) {
					found = append(found, source)
				}
			})
			slices.Sort(found)
			memo[key] = found
		}
		for _, source := range found {
			each(Key{i, source})
		}
	}
	f.static(has, each)
}

// Of calls each with the keys that a group of this source can have.
func (f *Followed) Of(source string, each func(Key)) {
	for i := range f.subs {
		each(Key{i, source})
	}
}

// Find calls each with the groups for which has returns true, in random order.
func (f *Followed) Find(has func(*targetgroup.Group) bool, each func(Key)) {
	if f.within != nil {
		f.within.each(has, each)
		f.static(has, each)
		return
	}
	for i, sub := range f.subs {
		sub.Each(func(group *targetgroup.Group) {
			if has(group) {
				each(Key{i, group.Source})
			}
		})
	}
	f.static(has, each)
}

// static calls each with the groups of static_configs for which has returns true.
func (f *Followed) static(has func(*targetgroup.Group) bool, each func(Key)) {
	for i, group := range f.job.Static {
		if has(group) {
			each(staticKey(i))
		}
	}
}

// Memo caches the sources of the groups in a namespace for which has returned true, by discovery.
type Memo map[string][]string

// Groups calls each with the discovered groups of the job, one at a time, in random order.
func (f *Followed) Groups(each func(*targetgroup.Group)) {
	for _, sub := range f.subs {
		sub.Each(each)
	}
}

// Foreign reports whether a group has labels of pods outside the namespace of its object.
func (f *Followed) Foreign(key Key) bool {
	return key.Discovery >= 0 && key.Discovery < len(f.subs) && f.subs[key.Discovery].Foreign(key.Source)
}
