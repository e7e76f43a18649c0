// Package growth describes how a cost grows with a size, by a formula that is fitted to measurements and compared with
// each of them.
//
//	f, ok := growth.Fit([]growth.Point{{100, 4.3}, {1000, 6.9}, {10000, 33}})
//	f.At(5000)     // 18.5
//	f.Factors      // measured / formula, of each point
package growth

import (
	"math"
	"slices"
)

// Point is the cost that was measured at a size.
type Point struct{ Size, Cost float64 }

// Shape is the form of a formula.
type Shape int

// The shapes, from simple to complicated. Fit returns a more complicated one only if it describes the points clearly
// better.
const (
	Constant Shape = iota // A
	Linear                // A + B·size, where neither A nor B is negative
	Power                 // A·size^B
)

// Formula describes the cost at every size.
type Formula struct {
	Shape Shape
	A, B  float64
	// R2 is the share of the variance of the costs' logarithms that the formula explains. NaN if that has no meaning: with
	// fewer than three points, costs of zero, or a constant.
	R2 float64
	// Factors are the measured cost divided by that of the formula, of each point. 1 is exact.
	Factors []float64
}

const (
	// flat is the ratio of the largest cost to the smallest up to which a cost is constant.
	flat = 1.25
	// clearly is how much nearer to the points a power must be than a line.
	clearly = 1.2
	// smallest is the weight limit of a cost that is zero or nearly so, as a share of the largest cost.
	smallest = 1e-3
)

// Fit returns the formula that fits the points best. It minimizes relative differences, so that the smallest sizes count
// as much as the largest. ok is false with fewer than two different sizes.
func Fit(points []Point) (f Formula, ok bool) {
	if !severalSizes(points) {
		return f, false
	}
	least, most := extremes(points)
	if most <= least*flat {
		return check(Formula{Shape: Constant, A: math.Sqrt(least * most)}, points), true
	}
	line := check(fitLine(points, most), points)
	if len(points) < 3 || least <= 0 {
		return line, true
	}
	if power := check(fitPower(points), points); power.Worst()*clearly < line.Worst() {
		return power, true
	}
	return line, true
}

func severalSizes(points []Point) bool {
	return slices.ContainsFunc(points, func(p Point) bool { return p.Size != points[0].Size })
}

func extremes(points []Point) (least, most float64) {
	least, most = points[0].Cost, points[0].Cost
	for _, p := range points {
		least, most = min(least, p.Cost), max(most, p.Cost)
	}
	return least, most
}

// fitLine minimizes the sum of ((a + b·size − cost) / cost)².
func fitLine(points []Point, most float64) Formula {
	var uu, uv, vv, u1, v1 float64
	for _, p := range points {
		weight := 1 / max(p.Cost, most*smallest)
		u, v, one := weight, weight*p.Size, weight*p.Cost
		uu, uv, vv, u1, v1 = uu+u*u, uv+u*v, vv+v*v, u1+u*one, v1+v*one
	}
	f := Formula{Shape: Linear}
	if det := uu*vv - uv*uv; det > 0 {
		f.A, f.B = (u1*vv-v1*uv)/det, (v1*uu-u1*uv)/det
	}
	switch {
	case f.A < 0:
		f.A, f.B = 0, v1/vv
	case f.B <= 0:
		f = Formula{Shape: Constant, A: u1 / uu}
	}
	return f
}

// fitPower fits a line to the logarithms of sizes and costs by least squares.
func fitPower(points []Point) Formula {
	var x, y, xx, xy float64
	n := float64(len(points))
	for _, p := range points {
		lx, ly := math.Log(p.Size), math.Log(p.Cost)
		x, y, xx, xy = x+lx, y+ly, xx+lx*lx, xy+lx*ly
	}
	b := (n*xy - x*y) / (n*xx - x*x)
	return Formula{Shape: Power, A: math.Exp((y - b*x) / n), B: b}
}

// check compares the formula with the points.
func check(f Formula, points []Point) Formula {
	var sum, squares, off float64
	n := float64(len(points))
	for _, p := range points {
		factor := p.Cost / f.At(p.Size)
		if p.Cost == 0 && f.At(p.Size) == 0 {
			factor = 1
		}
		f.Factors = append(f.Factors, factor)
		l, d := math.Log(p.Cost), math.Log(factor)
		sum, squares, off = sum+l, squares+l*l, off+d*d
	}
	f.R2 = math.NaN()
	if total := squares - sum*sum/n; len(points) > 2 && f.Shape != Constant && total > 0 && !math.IsInf(sum, 0) {
		f.R2 = max(0, 1-off/total)
	}
	return f
}

// At returns the cost at a size.
func (f Formula) At(size float64) float64 {
	switch f.Shape {
	case Linear:
		return f.A + f.B*size
	case Power:
		return f.A * math.Pow(size, f.B)
	default:
		return f.A
	}
}

// Worst returns by which factor the point that is farthest from the formula is above or below it, at least 1.
func (f Formula) Worst() float64 {
	worst := 1.0
	for _, factor := range f.Factors {
		worst = max(worst, Off(factor))
	}
	return worst
}

// Off returns a factor as a distance: 2 for both 2 and 0.5.
func Off(factor float64) float64 { return max(factor, 1/factor) }
