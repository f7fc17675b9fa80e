//go:build plant_price_of_today

package plant

// Planted is the fault of this build.
const Planted = PriceOfToday
