package programs

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// withEmbedded copies the module to the output folder, adds the file that it lacks, and returns
// a go.mod that replaces the module by the copy.
func (b batch) withEmbedded(ctx context.Context) (modfile string, err error) {
	if _, err := goTool(ctx, b.folder, "mod", "download", b.module); err != nil {
		return "", err
	}
	dir, err := goTool(ctx, b.folder, "list", "-m", "-f", "{{.Dir}}", b.module)
	if err != nil {
		return "", err
	}
	module, file := filepath.Join(b.out, "module"), filepath.Join(b.out, "module", b.embeds)
	if err := os.CopyFS(module, os.DirFS(string(dir))); err != nil {
		return "", fmt.Errorf("copy module: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return "", fmt.Errorf("add %s: %w", b.embeds, err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		return "", fmt.Errorf("add %s: %w", b.embeds, err)
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(b.folder, name))
		if err != nil {
			return "", fmt.Errorf("read the pinned versions: %w", err)
		}
		if name == "go.mod" {
			text = fmt.Appendf(text, "\nreplace %s => %s\n", b.module, module)
		}
		if err := os.WriteFile(filepath.Join(b.out, name), text, 0o600); err != nil {
			return "", fmt.Errorf("write the pinned versions: %w", err)
		}
	}
	return filepath.Join(b.out, "go.mod"), nil
}
