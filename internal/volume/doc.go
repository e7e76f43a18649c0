// Package volume watches folders that the kubelet fills, and returns their content.
//
// A mounted Secret or ConfigMap looks like this, and an update replaces ..data
// by rename; links of new keys follow, links of dropped keys go last:
//
//	..2026_01_31_10_20_30.123/   real files
//	..data -> ..2026_01_31_10_20_30.123
//	rules.yaml -> ..data/rules.yaml
//
// So a watch on rules.yaml dies with the first update. Watcher watches folders,
// notices when they are replaced, removed or not there yet, and folds a burst of
// events into one notification:
//
//	w := volume.NewWatcher(volume.WatchOptions{Dirs: dirs, Delay: time.Second})
//	go w.Run(ctx)
//	for range w.Changes() { … }
//
// A notification means "reread", never what changed: Take reads the visible
// files (names that start with two dots are the kubelet's) and returns a hash
// of names and contents. Events decide when to look, the hash decides whether
// something changed; a lost event costs time, never correctness.
//
// The package writes nothing and sends nothing.
package volume
