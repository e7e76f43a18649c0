package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/firekeeper-dev/firekeeper/internal/cluster/programs"
)

// Options configure a cluster.
type Options struct {
	// Dir holds all files: state.json, kubeconfig, logs, data. It must be empty, missing, or hold a cluster
	// that is no longer running (which is cleaned up first). Empty means a new temporary folder.
	Dir string
	// ControllerManager also starts kube-controller-manager: StatefulSet status, garbage collection,
	// service accounts. Node implies it.
	ControllerManager bool
	// Node starts a whole node that runs pods. It needs root.
	Node bool
	// Detach keeps the cluster running when this process ends; Down stops it.
	Detach bool
	// KeepLogs keeps Dir/logs when the cluster stops.
	KeepLogs bool
	// Log receives progress, one line at a time. Nil means none.
	Log io.Writer
	// APIServerArgs are added to the command line of kube-apiserver ("--v=4").
	APIServerArgs []string
	// EtcdArgs are added to the command line of etcd ("--quota-backend-bytes=8589934592").
	EtcdArgs []string
	// Programs finds the programs. Nil means programs.Default.
	Programs *programs.Finder
}

// maxNodeDir leaves room for the kubelet's sockets: the path of a socket is limited to 107 bytes.
const maxNodeDir = 60

// checked sets defaults and rejects options that cannot work.
func (o Options) checked() (Options, error) {
	o.Log = &lines{to: cmp.Or[io.Writer](o.Log, io.Discard)}
	if o.Programs == nil {
		o.Programs = programs.Default(o.Log)
	}
	o.ControllerManager = o.ControllerManager || o.Node
	if o.Dir != "" {
		abs, err := filepath.Abs(o.Dir)
		if err != nil {
			return o, fmt.Errorf("cluster folder: %w", err)
		}
		o.Dir = abs
	}
	switch {
	case o.Node && os.Geteuid() != 0:
		return o, errors.New("a whole node needs root; a control plane alone does not")
	case o.Node && len(o.Dir) > maxNodeDir:
		return o, fmt.Errorf("cluster folder %s: longer than %d bytes, the kubelet's sockets would not fit", o.Dir, maxNodeDir)
	}
	return o, nil
}

// programNames returns the required programs.
func (o Options) programNames() []string {
	names := []string{"etcd", "kube-apiserver", "kubectl"}
	if o.ControllerManager {
		names = append(names, "kube-controller-manager")
	}
	if o.Node {
		names = append(names, "kube-scheduler", "kubelet", "kube-proxy", "coredns")
	}
	return names
}
