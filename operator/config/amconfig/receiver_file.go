package amconfig

import (
	"errors"
	"path"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
)

// privateDirs are directories in the containers that receivers of AlertmanagerConfigs
// must not read. They contain the secrets of all of them and those of the pod, and a
// receiver sends the content to a destination that the object chooses.
var privateDirs = []string{
	"/etc/alertmanager/config", "/etc/alertmanager/config_out", certsDir,
	"/etc/alertmanager/web_config", "/etc/alertmanager/cluster_tls_config",
	"/alertmanager", // silences and notifications of all tenants
	"/var/run/secrets", "/run/secrets",
	"/proc", "/sys", "/dev",
}

var (
	errFilePath    = errors.New(`must be an absolute path without "//", "." and ".."`)
	errPrivateFile = errors.New("files of this folder must not be sent to receivers; mount the file with spec.secrets of the Alertmanager")
)

// file checks a path from which Alertmanager reads a credential. It accepts "". The base
// may use any path, because its author controls the pods anyway.
func (c *compiler) file(field, name string) error {
	if name == "" || c.isBase {
		return nil
	}
	if !path.IsAbs(name) || path.Clean(name) != name {
		return faults.At(field, errFilePath)
	}
	for _, dir := range privateDirs {
		if name == dir || strings.HasPrefix(name, dir+"/") {
			return faults.At(field, errPrivateFile)
		}
	}
	return nil
}
