// Package cluster runs a real Kubernetes cluster on this machine, for tests and the demo.
//
// There are two kinds:
//
//   - control plane: etcd and kube-apiserver, optionally kube-controller-manager. It needs no root and is ready
//     in seconds; several can run side by side. Objects are real, but pods never run.
//   - whole node: also scheduler, containerd, kubelet, kube-proxy, CoreDNS and a bridge network. It needs root on
//     Linux; one per machine. Pods, Services, DNS, volumes, and workload controllers behave as on any cluster.
//
// Tests use package clustertest, users the command clusterctl:
//
//	c, err := cluster.Start(ctx, cluster.Options{ControllerManager: true, Log: os.Stderr})
//	if err != nil {
//		return err
//	}
//	defer c.Stop()
//	out, err := c.Kubectl(ctx, "get", "namespaces")
//
// An attached cluster ends with its process: the kernel kills its children with it. A detached one runs until
// Down. Everything that a cluster creates on the machine (processes, interfaces, kernel settings, folders) is
// written to state.json first, so that Down can also clean up after a crash. The state of a node has a copy below
// /run/firekeeper, which also prevents a second node.
//
// The package only starts programs (package programs finds them) and must not import k8s.io. It pulls no images:
// its images are built locally, FROM scratch.
package cluster
