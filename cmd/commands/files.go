package commands

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/alecthomas/kingpin/v2"

	"github.com/firekeeper-dev/firekeeper/operator/readers/apiserver"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

const filesHelp = "File or folder of manifests (YAML with several documents, JSON, Lists); - is standard input. Repeatable."

// bindFiles declares -f, and equivalent positional arguments.
func bindFiles(cmd *kingpin.CmdClause, files *[]string) {
	cmd.Arg("manifests", "Files or folders of manifests, as with -f.").PlaceHolder("FILE").StringsVar(files)
	cmd.Flag("file", filesHelp).Short('f').StringsVar(files)
}

// appliedFiles are manifests for a command that reports on the cluster after applying them.
type appliedFiles struct {
	files   []string
	offline bool // read nothing but the manifests
}

// bind declares -f and --offline. alone is the help about reading only manifests.
func (a *appliedFiles) bind(cmd *kingpin.CmdClause, alone string) {
	cmd.Flag("file", filesHelp+" The answer is that of the cluster after they were applied. With --offline, or without a kubeconfig, it is that of the manifests alone"+alone+".").
		Short('f').StringsVar(&a.files)
	cmd.Flag("offline", "Read nothing but the manifests of -f.").BoolVar(&a.offline)
}

// check returns an error for the first invalid argument.
func (a *appliedFiles) check() error {
	if a.offline && len(a.files) == 0 {
		return errors.New("--offline: needs manifests, given with -f")
	}
	return checkFiles(a.files)
}

// readsCluster reports whether the command also reads a cluster. It must if there are no
// manifests. With manifests, it does if a kubeconfig or a flag selects a cluster, but not
// just because it runs in a pod: a pipeline should not depend on where it runs.
func (a *appliedFiles) readsCluster(o *connection) bool {
	if a.offline || len(a.files) == 0 {
		return !a.offline
	}
	return o.APIServer != "" || o.person().kubeconfig() != nil
}

// connect connects to the cluster, and returns the version of its API server.
func (a *appliedFiles) connect(ctx context.Context, o *connection) (cluster apiserver.Reader, version string, err error) {
	cluster, version, err = o.connect(ctx)
	if err != nil && len(a.files) > 0 {
		err = fmt.Errorf("%w; --offline reads the manifests alone", err)
	}
	return cluster, version, err
}

// checkFiles returns an error for the first path that does not exist, because a typo must
// not look like a finding.
func checkFiles(files []string) error {
	for _, name := range files {
		if standardInput(name) {
			continue
		}
		info, err := os.Stat(name)
		if err == nil && !manifests.Readable(info) {
			return fmt.Errorf("%s: %w", name, manifests.ErrNoFile)
		}
		if path, is := errors.AsType[*fs.PathError](err); is {
			return fmt.Errorf("%s: %w", name, path.Err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// needFiles is like checkFiles, for a command that requires manifests.
func needFiles(command string, files []string) error {
	if len(files) == 0 {
		return fmt.Errorf("no manifests: give files or folders, as in %s manifests/, or - for standard input", command)
	}
	return checkFiles(files)
}

func standardInput(name string) bool { return name == "-" || name == manifests.StandardInput }
