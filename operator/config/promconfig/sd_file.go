package promconfig

import (
	"errors"
	"fmt"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// FileSD is one entry of file_sd_configs.
type FileSD struct {
	// Files are paths in the container. The last element may contain one "*".
	Files []string `yaml:"files"`
	// RefreshInterval is the interval at which files are reread in addition to watching them.
	RefreshInterval v1.Duration `yaml:"refresh_interval,omitempty"`
}

// targetFile matches the paths that the server accepts.
var targetFile = lazyregexp.New(`^[^*]*(\*[^/]*)?\.(json|yml|yaml|JSON|YML|YAML)$`)

func (c *compiler) fileSD(in *v1alpha1.FileSDConfig) (*FileSD, error) {
	if len(in.Files) == 0 {
		return nil, faults.At("files", errors.New("is empty"))
	}
	for i, path := range in.Files {
		if !targetFile.MatchString(path) {
			return nil, faults.At(fmt.Sprintf("files[%d]", i), fmt.Errorf("%q is not a path of JSON or YAML files", path))
		}
	}
	return &FileSD{Files: in.Files, RefreshInterval: in.RefreshInterval}, checkRefresh(in.RefreshInterval)
}
