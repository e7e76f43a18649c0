package jobtext

import (
	"strconv"
	"strings"
)

// InJob splits the path of a key in scrape_configs, as in the left-out keys of a fragment, into the index of the
// job and the path of the key in the job. ok is false for other paths.
func InJob(path string) (job int, key string, ok bool) {
	rest, is := strings.CutPrefix(path, "scrape_configs[")
	index, key, more := strings.Cut(rest, "].")
	job, err := strconv.Atoi(index)
	return job, key, is && more && err == nil
}
