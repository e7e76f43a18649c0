// Package workload builds the parts of pods that all kinds share: names, labels and metadata of
// generated objects, StatefulSets, the governing Service, storage, the web configuration, reloader
// sidecars and tables of arguments. It is independent of the kinds. Begin at [Base], which combines an
// object with its [Kind]. The packages promworkload and thanosruler have the parts of a single family.
//
// The package is pure: it has no client, clock or logger, and equal arguments result in equal bytes.
//
//	base := &workload.Base{Kind: kind, Meta: &p.ObjectMeta, Fields: &p.Spec.WorkloadFields, Config: cfg}
//	args, dropped := workload.Fill(rows, version, owner)
//	sts := base.NewStatefulSet(base.PrefixedName(), match, hash, pod)
//
// An object that is migrated to this operator keeps its pods only if the pod template is equal in every
// detail. The order of arguments, volumes, mounts, containers and variables is therefore part of the
// contract, and so is whether a field is absent or explicitly set to its default.
package workload
