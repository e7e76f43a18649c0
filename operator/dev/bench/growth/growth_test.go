package growth

import (
	"math"
	"testing"
)

func points(cost func(n float64) float64, sizes ...float64) []Point {
	var out []Point
	for _, n := range sizes {
		out = append(out, Point{n, cost(n)})
	}
	return out
}

func near(got, want float64) bool { return math.Abs(got-want) <= 0.02*math.Abs(want)+1e-9 }

func TestFit(t *testing.T) {
	sizes := []float64{100, 1000, 10_000, 50_000}
	noise := map[float64]float64{100: 1.1, 1000: 0.92, 10_000: 1.06, 50_000: 0.95}
	for name, tc := range map[string]struct {
		points []Point
		shape  Shape
		a, b   float64
		worst  float64
	}{
		"constant":                {points(func(n float64) float64 { return 7 + n/100_000 }, sizes...), Constant, 7.25, 0, 1.04},
		"zero":                    {points(func(float64) float64 { return 0 }, sizes...), Constant, 0, 0, 1},
		"line":                    {points(func(n float64) float64 { return 4 + n*0.0029 }, sizes...), Linear, 4, 0.0029, 1},
		"through zero":            {points(func(n float64) float64 { return n * 3 }, sizes...), Linear, 0, 3, 1},
		"two sizes":               {points(func(n float64) float64 { return 4 + n }, 1, 50), Linear, 4, 1, 1},
		"square":                  {points(func(n float64) float64 { return 2e-6 * n * n }, sizes...), Power, 2e-6, 2, 1},
		"root":                    {points(func(n float64) float64 { return 3 * math.Sqrt(n) }, sizes...), Power, 3, 0.5, 1},
		"a line below zero at 0":  {points(func(n float64) float64 { return n - 60 }, 100, 200), Linear, 0, 0.571, 1.43},
		"less for more":           {points(func(n float64) float64 { return 10 - n/10_000 }, sizes...), Constant, 7.06, 0, 1.42},
		"a single cost of all":    {[]Point{{1, 0}, {10, 0}, {50, 0}, {200, 5}}, Linear, 0, 1e-9, math.Inf(1)},
		"a line with some noise":  {points(func(n float64) float64 { return (4 + n*0.0029) * noise[n] }, sizes...), Linear, 4.2, 0.0028, 1.12},
		"one point off by double": {append(points(func(n float64) float64 { return n }, 10, 100, 10_000, 100_000), Point{1000, 2000}), Linear, 0, 1.08, 1.86},
	} {
		f, ok := Fit(tc.points)
		if !ok || f.Shape != tc.shape || len(f.Factors) != len(tc.points) {
			t.Errorf("%s: %+v, %t", name, f, ok)
			continue
		}
		loose := tc.worst > 1.05 // the fit depends on the noise: only its quality is certain
		if !loose && (!near(f.A, tc.a) || !near(f.B, tc.b)) {
			t.Errorf("%s: A %g, B %g, want %g, %g", name, f.A, f.B, tc.a, tc.b)
		}
		if w := f.Worst(); w > tc.worst*1.1 || w < tc.worst/1.1 && !math.IsInf(tc.worst, 1) {
			t.Errorf("%s: a point is off by %g, want %g: %+v", name, w, tc.worst, f)
		}
	}
}

func TestFitNeedsTwoSizes(t *testing.T) {
	for _, few := range [][]Point{nil, {{1, 2}}, {{1, 2}, {1, 3}}} {
		if f, ok := Fit(few); ok {
			t.Errorf("%v: %+v", few, f)
		}
	}
}

// R² is near 1 for a line with little noise, low for costs that do not follow the size, and unknown where it says nothing.
func TestR2(t *testing.T) {
	line, _ := Fit([]Point{{100, 4.5}, {1000, 6.5}, {10_000, 34}, {50_000, 145}})
	if line.R2 < 0.99 || line.R2 > 1 {
		t.Errorf("line: %g", line.R2)
	}
	random, _ := Fit([]Point{{100, 10}, {1000, 90}, {10_000, 20}, {50_000, 60}})
	if random.R2 > 0.7 {
		t.Errorf("no order: %g", random.R2)
	}
	for name, of := range map[string][]Point{"two": {{1, 2}, {2, 5}}, "constant": {{1, 2}, {2, 2}, {3, 2}}, "zeros": {{1, 0}, {2, 0}, {3, 9}}} {
		if f, _ := Fit(of); !math.IsNaN(f.R2) {
			t.Errorf("%s: %g", name, f.R2)
		}
	}
}
