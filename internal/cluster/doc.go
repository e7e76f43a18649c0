// Package cluster runs a real Kubernetes on this machine, for tests and the demo.
//
// Two sizes:
//
//   - control plane: etcd and kube-apiserver, on demand kube-controller-manager. Needs no root, is ready in
//     seconds; several may run side by side. Objects are real, pods never run.
//   - whole node: also scheduler, containerd, kubelet, kube-proxy, CoreDNS and a bridge network. Needs root
//     on Linux; one per machine. Pods, Services, DNS, volumes, and workload controllers behave as on any cluster.
//
// Tests use package clustertest, people use clusterctl:
//
//	c, err := cluster.Start(ctx, cluster.Options{ControllerManager: true, Log: os.Stderr})
//	if err != nil {
//		return err
//	}
//	defer c.Stop()
//	out, err := c.Kubectl(ctx, "get", "namespaces")
//
// An attached cluster ends with its process: children get a death signal from the kernel. A detached one
// stays until Down. All that a cluster makes on the machine is written to state.json before it
// is made (processes, interfaces, kernel settings, folders), so Down also clears up after a crash; a node's
// state has a copy below /run/firekeeper, which is also the claim that keeps a second node away.
//
// The package only starts programs (package programs finds them) and must not import k8s.io. It
// pulls no images: what runs is built here, FROM scratch.
package cluster
