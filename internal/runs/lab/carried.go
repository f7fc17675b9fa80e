package lab

import (
	"fmt"

	"github.com/cowboyinc/devnet/fixtures"
)

// Carried loads the experiments that the program carries.
func Carried() (all []*Experiment, err error) {
	folders, err := fixtures.Lab.ReadDir("lab")
	if err != nil {
		return nil, err
	}
	for _, folder := range folders {
		e, err := CarriedAs(folder.Name())
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

// CarriedAs loads one of them.
func CarriedAs(name string) (*Experiment, error) {
	text, err := fixtures.Lab.ReadFile("lab/" + name + "/experiment.star")
	if err != nil {
		return nil, fmt.Errorf("there is no experiment %q", name)
	}
	return Load(name, text)
}
