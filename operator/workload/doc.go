// Package workload is what the pods of every kind have in common: names, labels
// and metadata of generated objects, StatefulSets, the governing Service, storage,
// the web configuration, reloader sidecars and tables of arguments. It knows no
// kind; a [Kind] names one, and [Base] joins it with an object. What only the pods of
// one family have is in packages promworkload and thanosruler.
//
// It decides from plain values only; there is no client, clock or logger here, and
// the same arguments give the same bytes.
//
//	base := &workload.Base{Kind: kind, Meta: &p.ObjectMeta, Fields: &p.Spec.WorkloadFields, Config: cfg}
//	args, dropped := workload.Fill(rows, version, owner)
//	sts := base.NewStatefulSet(base.PrefixedName(), match, hash, pod)
//
// An object that moves to this operator keeps its pods only when the pod
// template stays the same in every detail. The order of arguments, volumes,
// mounts, containers and variables is therefore part of the contract, and so is
// whether a field is absent or explicitly at its default.
package workload
