package envelope

import (
	"fmt"
	"math"
	"slices"

	"github.com/firekeeper-dev/firekeeper/operator/dev/bench/growth"
)

// off is the factor beyond which a measured cost is marked, because the formula does not describe it.
const off = 1.5

// fit returns the formula of a cost. ok is false if it was not measured at two sizes.
func (p *Part) fit(columns []Column, cost int) (f growth.Formula, ok bool) {
	var points []growth.Point
	for _, c := range columns {
		if v := c.Values[cost]; !math.IsNaN(v) {
			points = append(points, growth.Point{Size: float64(c.Size[p.By]), Cost: v})
		}
	}
	return growth.Fit(points)
}

// sentence returns a formula with how well it describes the measured costs:
// "one monitor, p50 ≈ 4 ms + 2.9 ms per 1,000 monitors (R² 0.99, each size within 12 %)".
func (p *Part) sentence(cost Cost, f growth.Formula) string {
	key := p.Keys[p.By]
	formula := cost.Unit.write(f.A)
	switch f.Shape {
	case growth.Constant:
		formula += " at every size"
	case growth.Linear:
		slope := cost.Unit.write(f.B*float64(key.Per)) + " per " + key.some()
		if formula += " + " + slope; f.A == 0 {
			formula = slope
		}
	case growth.Power:
		base := "(" + key.Title + " / " + thousands(key.Per) + ")"
		if key.Per == 1 {
			base = "(" + key.Title + ")"
		}
		formula = cost.Unit.write(f.At(float64(key.Per))) + " × " + base + "^" + digits(f.B)
	}
	return cost.Title + " ≈ " + formula + " (" + quality(f) + ")"
}

// some returns "1,000 monitors" or "Prometheus object".
func (k Key) some() string {
	if k.Per == 1 {
		return k.Title[:len(k.Title)-1]
	}
	return thousands(k.Per) + " " + k.Title
}

// quality describes the distance of the measured costs from the formula.
func quality(f growth.Formula) string {
	worst := f.Worst()
	said := fmt.Sprintf("each size within %.0f %%", math.Ceil(100*(worst-1)-1e-6))
	switch {
	case worst < 1+1e-6:
		said = "exact"
	case worst > off:
		said = "**does not describe each size**: off by up to ×" + digits(worst)
		if math.IsInf(worst, 1) {
			said = "**does not describe each size**"
		}
	}
	switch {
	case len(f.Factors) < 3 && f.Shape != growth.Constant:
		return "two sizes, so not checked"
	case math.IsNaN(f.R2):
		return said
	default:
		return "R² " + fmt.Sprintf("%.2f", math.Floor(100*f.R2+1e-9)/100) + ", " + said
	}
}

// marks returns for each column the factor by which its cost differs from the formula, or 0 if it is near enough.
func marks(columns []Column, cost int, f growth.Formula) []float64 {
	out, at := make([]float64, len(columns)), 0
	for i, c := range columns {
		if math.IsNaN(c.Values[cost]) {
			continue
		}
		if factor := f.Factors[at]; growth.Off(factor) > off {
			out[i] = factor
		}
		at++
	}
	return slices.Clip(out)
}
