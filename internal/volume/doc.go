// Package volume watches folders that the kubelet writes, and reads their content.
//
// A mounted Secret or ConfigMap has this layout. An update replaces ..data by rename,
// then adds the links of new keys, and finally removes those of dropped keys:
//
//	..2026_01_31_10_20_30.123/   real files
//	..data -> ..2026_01_31_10_20_30.123
//	rules.yaml -> ..data/rules.yaml
//
// A watch on rules.yaml would therefore end with the first update. [Watcher] watches
// folders, handles folders that are replaced, removed or not created yet, and merges a
// burst of events into one notification:
//
//	w := volume.NewWatcher(ctx, volume.WatchOptions{Dirs: dirs, Delay: time.Second})
//	go w.Run(ctx)
//	for range w.Changes() { ... }
//
// A notification means "reread" and does not describe the change: [Reader.Take] reads the
// visible files (names that start with two dots belong to the kubelet) and returns a hash
// of names and contents. Events only trigger a read, and the hash determines whether
// something changed. A lost event causes a delay but never a wrong result.
//
// The package writes no files and sends no requests.
package volume
