package commands

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/alecthomas/kingpin/v2"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/firekeeper-dev/firekeeper/operator/offline"
)

const filesHelp = "File or folder of manifests%s (YAML with several documents, JSON, Lists); - is standard input. Repeatable."

// bindFiles declares -f, and the arguments that mean the same.
func bindFiles(cmd *kingpin.CmdClause, files *[]string) {
	cmd.Arg("manifests", "Files or folders of manifests, as with -f.").PlaceHolder("FILE").StringsVar(files)
	cmd.Flag("file", fmt.Sprintf(filesHelp, "")).Short('f').StringsVar(files)
}

// bindOtherFiles declares -f for a command that reads a cluster without it.
func bindOtherFiles(cmd *kingpin.CmdClause, files *[]string) {
	cmd.Flag("file", fmt.Sprintf(filesHelp, " to read instead of a cluster")).Short('f').StringsVar(files)
}

// readsCluster reports whether a command that takes manifests reads a cluster, too: without
// manifests it must, with them it does where a kubeconfig or a flag names one. In a pod without
// either it does not: a pipeline should not depend on where it runs.
func (o *Options) readsCluster(files []string, offline bool) bool {
	if offline || len(files) == 0 {
		return !offline
	}
	_, err := os.Stat(clientcmd.RecommendedHomeFile)
	return o.Kubeconfig != "" || o.APIServer != "" || os.Getenv(clientcmd.RecommendedConfigPathEnvVar) != "" || err == nil
}

// checkFiles reports the first path that does not exist: a typo is no finding about manifests.
func checkFiles(files []string) error {
	for _, name := range files {
		if standardInput(name) {
			continue
		}
		_, err := os.Stat(name)
		if path, is := errors.AsType[*fs.PathError](err); is {
			return fmt.Errorf("%s: %w", name, path.Err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// needFiles is checkFiles for a command that has nothing else to read.
func needFiles(command string, files []string) error {
	if len(files) == 0 {
		return fmt.Errorf("no manifests: give files or folders, as in %s manifests/, or - for standard input", command)
	}
	return checkFiles(files)
}

func standardInput(name string) bool { return name == "-" || name == offline.StandardInput }
