// Package workload builds the parts of pods that all kinds share: names, labels and metadata of
// generated objects, StatefulSets, the governing Service, storage, the web configuration, reloader
// sidecars, and tables of arguments and of checks. It is independent of the kinds. Begin at [Base], which
// combines an object with its [Kind]. The packages of the kinds have what only one of them needs.
//
// The package is pure: it has no client, clock or logger, and equal arguments result in equal bytes.
//
//	base := workload.NewBase(kind, &p.ObjectMeta, &p.Spec.WorkloadFields, cfg)
//	args, dropped := workload.Fill(rows, base.Version, base)
//	pod := base.PodSpec() // and its volumes and containers
//	sts, err := base.StatefulSetOf(base.PrefixedName(), match, in, base.PodMeta(match, in), pod)
//
// An object that is migrated to this operator keeps its pods only if the pod template is equal in every
// detail. The order of arguments, volumes, mounts, containers and variables is therefore part of the
// contract, and so is whether a field is absent or explicitly set to its default.
package workload
