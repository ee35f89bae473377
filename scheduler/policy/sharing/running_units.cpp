#include "scheduler/policy/sharing/running_units.hpp"

#include <algorithm>
#include <utility>

namespace replay::sharing {

Unit& RunningUnits::add(KnownJob& job, int per_node, std::vector<Seat> seats) {
  Unit& unit = units_.take();
  unit.jobs.assign(1, &job);
  unit.per_node = per_node;
  unit.seats = std::move(seats);
  unit.covered = 0;
  unit.company = nullptr;
  return unit;
}

Company& RunningUnits::company_of(Unit& unit) {
  Company& company = pool_.take();
  company.units.assign(1, &unit);
  company.is_group = company.changed = false;
  company.releases.clear();
  unit.company = &company;
  unit.covered = 0;
  return company;
}

Unit& RunningUnits::start(KnownJob& job, int per_node, std::vector<Seat> seats, Instant now) {
  Unit& unit = add(job, per_node, std::move(seats));
  Company& company = company_of(unit);
  companies_.push_back(&company);
  foresee(company, now);
  job.unit = &unit;
  return unit;
}

void RunningUnits::join_up(std::span<Unit* const> units, const Party& party) {
  Company& group = pool_.take();
  group.units.assign(units.begin(), units.end());
  group.is_group = true;
  group.changed = false;
  group.primary = units.front()->jobs.front()->id();
  int before = 0;
  for (Unit* const unit : units) {
    if (unit->company != nullptr) {
      std::erase(companies_, unit->company);
      pool_.give_back(*unit->company);
    }
    unit->company = &group;
    for (KnownJob* const job : unit->jobs) job->unit = unit;
    if (unit == units.front()) continue;
    unit->covered = std::clamp(units.front()->nodes() - before, 0, unit->nodes());
    before += unit->nodes();
  }
  companies_.push_back(&group);
  take_over(group, party);
}

void RunningUnits::join(KnownJob& job, Unit& bundle, const Party& party) {
  bundle.jobs.push_back(&job);
  job.unit = &bundle;
  take_over(*bundle.company, party);
}

void RunningUnits::follow(Instant now, std::uint64_t running, Decisions& facts) {
  split_.clear();
  for (Company* const company : companies_) remove_ended(*company, now, running, facts);
  std::erase_if(companies_, [this](Company* company) {
    if (!company->units.empty()) return false;
    pool_.give_back(*company);
    return true;
  });
  companies_.insert(companies_.end(), split_.begin(), split_.end());
  for (Company* const company : companies_)
    if (company->changed) foresee(*company, now);
}

void RunningUnits::remove_ended(Company& company, Instant now, std::uint64_t running, Decisions& facts) {
  const Unit* const primary = company.units.front();
  bool primary_ended = false;
  std::erase_if(company.units, [&](Unit* unit) {
    const auto ended = std::erase_if(unit->jobs, [running](const KnownJob* job) { return job->mark != running; });
    company.changed = company.changed || ended > 0;
    for (const KnownJob* job : unit->jobs) company.changed = company.changed || job->end <= now;
    if (!unit->jobs.empty()) return false;
    primary_ended = primary_ended || unit == primary;
    units_.give_back(*unit);
    return true;
  });
  if (!company.is_group || (!primary_ended && company.units.size() > 1)) return;
  facts.emplace_back(GroupEnded{company.primary});
  disband(company);
}

// Survivors keep what they have, each in a company of its own.
void RunningUnits::disband(Company& company) {
  company.is_group = false;
  company.changed = true;
  while (company.units.size() > 1) {
    split_.push_back(&company_of(*company.units.back()));
    split_.back()->changed = true;
    company.units.pop_back();
  }
  for (Unit* const unit : company.units) unit->covered = 0;
}

void RunningUnits::foresee(Company& company, Instant now) {
  party_.clear(now);
  for (const Unit* unit : company.units) add_to(party_, *unit, unit->covered);
  party_.foresee();
  take_over(company, party_);
}

void RunningUnits::take_over(Company& company, const Party& party) {
  for (const Party::Guest& guest : party.guests()) {
    guest.job->work = guest.present;
    guest.job->end = guest.end;
  }
  party.releases(company.releases);
  company.changed = false;
}

void RunningUnits::held(std::span<const Release> others, std::span<Unit* const> but, Releases& out) const {
  out.assign(others.begin(), others.end());
  for (const Company* company : companies_)
    if (std::ranges::none_of(but, [company](const Unit* unit) { return unit->company == company; }))
      out.insert(out.end(), company->releases.begin(), company->releases.end());
  put_in_order(out);
}

}  // namespace replay::sharing
