// Reads LSF's lsb.acct: a line is a record, its fields are numbers and quoted texts parted by blanks. JOB_FINISH is the
// record of a job that has ended; what newer versions write behind the fields of older ones is read where it is there.
// docs/formats/lsf.md has the mapping.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "scheduler/base/file/byte_source.hpp"
#include "scheduler/base/file/line_reader.hpp"
#include "traces/convert/accounting.hpp"

namespace replay::lsf {

using accounting::Job;
using accounting::ReaderOptions;

/// The job of a JOB_FINISH record. Throws InputError, without the place, for a field that cannot be read.
[[nodiscard]] Job read_job(std::string_view line);

class Reader : public accounting::Reader {
 public:
  /// Throws UsageError for an unknown zone.
  Reader(std::unique_ptr<ByteSource> source, const ReaderOptions& options)
      : accounting::Reader(options), lines_(std::move(source)) {}

  [[nodiscard]] bool next(Job& job) override;
  [[nodiscard]] std::string_view format() const override { return "lsf"; }
  [[nodiscard]] const std::string& name() const override { return lines_.name(); }

 private:
  LineReader lines_;
};

}  // namespace replay::lsf
