// The lines between clients and the service: what is written is read back, and what is no message is refused in one
// sentence that names the field.
#include "scheduler/service/messages.hpp"

#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "scheduler/base/error.hpp"

namespace replay::service {
namespace {

using namespace std::chrono_literals;

JobRequest full_job() {
  JobRequest job;
  job.name = "weather \"north\"";
  job.processes = 4;
  job.time_limit = 90s;
  job.is_rigid = true;
  job.requeue = true;
  job.queue = 3;
  job.command = {"/bin/sh", "-c", "echo a\nb; exit 3", ""};
  job.directory = "/home/user/a folder";
  job.environment = {"PATH=/usr/bin:/bin", "EMPTY=", "TWO=a=b", "LINES=1\n2"};
  return job;
}

// `members` with a comma in front; they replace those of the same name.
std::string submit_line(const std::string& members) {
  std::string line = R"({"request":"submit","job":{"queue":0)";
  for (const std::string member : {R"("processes":1)", R"("command":["true"])", R"("directory":"/")"})
    if (members.find(member.substr(0, member.find(':') + 1)) == std::string::npos) line += "," + member;
  return line + members + "}}";
}

std::string refusal_of(const std::string& line) {
  try {
    (void)parse_request(line);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ServiceMessages, ASubmittedJobIsReadAsItWasWritten) {
  const JobRequest job = full_job();
  const std::string line = to_line(Request{Submit{job}});
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const Request read = parse_request(line);
  ASSERT_TRUE(std::holds_alternative<Submit>(read));
  const JobRequest& back = std::get<Submit>(read).job;
  EXPECT_EQ(back.name, job.name);
  EXPECT_EQ(back.processes, 4);
  EXPECT_EQ(back.time_limit, job.time_limit);
  EXPECT_TRUE(back.is_rigid);
  EXPECT_TRUE(back.requeue);
  EXPECT_EQ(back.queue, 3);
  EXPECT_EQ(back.command, job.command);
  EXPECT_EQ(back.directory, job.directory);
  EXPECT_EQ(back.environment, job.environment);
}

TEST(ServiceMessages, EachOtherRequestIsReadAsItWasWritten) {
  const auto again = [](const Request& request) { return parse_request(to_line(request)); };
  const auto list = again(ListJobs{true, 12});
  ASSERT_TRUE(std::holds_alternative<ListJobs>(list));
  EXPECT_TRUE(std::get<ListJobs>(list).ended);
  EXPECT_EQ(std::get<ListJobs>(list).after, 12);
  EXPECT_EQ(std::get<ShowJob>(again(ShowJob{JobId{7}})).job, JobId{7});
  EXPECT_EQ(std::get<CancelJob>(again(CancelJob{JobId{8}})).job, JobId{8});
  EXPECT_EQ(std::get<WaitForJob>(again(WaitForJob{JobId{9}})).job, JobId{9});
  EXPECT_TRUE(std::holds_alternative<ShowService>(again(ShowService{})));
}

TEST(ServiceMessages, EachAnswerIsReadAsItWasWritten) {
  JobStatus job;
  job.id = JobId{5};
  job.name = "a";
  job.user = "ann";
  job.state = JobState::kEnded;
  job.processes = 3;
  job.cores = 2;
  job.time_limit = 1500ms;
  job.submitted = UnixTime{1'764'052'345'123'457us};
  job.started = job.submitted + 1s;
  job.ended = job.submitted + 2s;
  job.outcome = Outcome::kFailed;
  job.exit_code = 3;
  job.reason = "exit status 3";
  job.command = "sh -c 'exit 3'";
  job.directory = "/tmp";
  job.output = "/s/jobs/5";
  const auto again = [](const Answer& answer) { return parse_answer(to_line(answer)); };
  const auto one = again(OneJob{job});
  ASSERT_TRUE(std::holds_alternative<OneJob>(one));
  const JobStatus& back = std::get<OneJob>(one).job;
  EXPECT_EQ(back.id, job.id);
  EXPECT_EQ(back.user, "ann");
  EXPECT_EQ(back.state, JobState::kEnded);
  EXPECT_EQ(back.cores, 2);
  EXPECT_EQ(back.time_limit, job.time_limit);
  EXPECT_EQ(back.submitted, job.submitted) << "times are exact to the microsecond";
  EXPECT_EQ(back.ended, job.ended);
  EXPECT_EQ(back.outcome, Outcome::kFailed);
  EXPECT_EQ(back.exit_code, 3);
  EXPECT_EQ(back.reason, job.reason);
  EXPECT_EQ(back.output, job.output);

  const auto all = again(AllJobs{{job, job}, true});
  ASSERT_TRUE(std::holds_alternative<AllJobs>(all));
  EXPECT_EQ(std::get<AllJobs>(all).jobs.size(), 2U);
  EXPECT_TRUE(std::get<AllJobs>(all).more);

  ServiceStatus service;
  service.pid = 4711;
  service.version = "1.0";
  service.machine = "emulated:1x1x4";
  service.cores = 4;
  service.policy = "easy";
  service.run_folder = "/s/runs/a";
  service.page = "http://127.0.0.1:4000/";
  service.started = job.submitted;
  service.waiting = 2;
  const auto shown = again(Service{service});
  ASSERT_TRUE(std::holds_alternative<Service>(shown));
  EXPECT_EQ(std::get<Service>(shown).service.pid, 4711);
  EXPECT_EQ(std::get<Service>(shown).service.page, service.page);
  EXPECT_EQ(std::get<Service>(shown).service.waiting, 2U);

  EXPECT_EQ(std::get<Submitted>(again(Submitted{JobId{6}})).job, JobId{6});
  EXPECT_EQ(std::get<Refused>(again(Refused{"no"})).error, "no");
}

TEST(ServiceMessages, AJobWithoutANameIsNamedAfterItsProgram) {
  const auto request =
      parse_request(R"({"request":"submit","job":{"processes":1,"command":["/usr/bin/env","a"],"directory":"/"}})");
  EXPECT_EQ(std::get<Submit>(request).job.name, "env");
}

TEST(ServiceMessages, ARefusalNamesTheFieldAndWhatWasFound) {
  EXPECT_EQ(refusal_of("{"),
            "request: expected a JSON object: line 1, column 2: syntax error while parsing object key "
            "- unexpected end of input; expected string literal");
  EXPECT_EQ(refusal_of("[]"), "request: expected an object, found a list");
  EXPECT_EQ(refusal_of(R"({"request":"sing"})"),
            "request: request: expected submit, jobs, job, cancel, wait or service, found \"sing\"");
  EXPECT_EQ(refusal_of(R"({"request":"service","all":1})"), "request: expected no member 'all'");
  EXPECT_EQ(refusal_of(R"({"request":"job","job":0})"), "request: job: expected a job's number, from 1, found 0");
  EXPECT_EQ(refusal_of(R"({"request":"job","job":1.5})"), "request: job: expected a job's number, from 1, found 1.5");
  EXPECT_EQ(refusal_of(submit_line(R"(,"processes":0)")), "request: job.processes: expected a count >= 1, found 0");
  EXPECT_EQ(refusal_of(R"({"request":"cancel","job":1,"job":2})"),
            "request: expected a JSON object: expected each member of an object once, found 'job' twice");
  EXPECT_EQ(refusal_of(submit_line(R"(,"time_limit_s":0.5)")),
            "request: job.time_limit_s: expected a number 1..315360000, found 0.5");
  EXPECT_EQ(refusal_of(submit_line(R"(,"command":[])")), "request: job.command: expected a program, found none");
  EXPECT_EQ(refusal_of(submit_line(R"(,"command":["a\u0000b"])")),
            "request: job.command[0]: expected a text without NUL bytes, found \"a\\u0000b\"");
  EXPECT_EQ(refusal_of(submit_line(R"(,"directory":"here")")),
            "request: job.directory: expected an absolute path, found \"here\"");
  EXPECT_EQ(refusal_of(submit_line(R"(,"environment":["=x"])")),
            "request: job.environment: expected NAME=value, found '=x'");
  EXPECT_EQ(refusal_of(submit_line(R"(,"name":"a\u001b[1m")")),
            "request: job.name: expected a text in one line without control characters, found \"a\\u001b[1m\"");
  EXPECT_EQ(refusal_of(submit_line(R"(,"rigid":1)")), "request: job.rigid: expected true or false, found 1");
  EXPECT_EQ(refusal_of(submit_line(R"(,"colour":1)")), "request: expected no member 'colour'");
  EXPECT_EQ(refusal_of(submit_line("")), "accepted");
}

// What another program at the socket may say. Paths keep all bytes, and are cleaned as they are printed.
TEST(ServiceMessages, AnAnswerWithControlCharactersInWhatIsPrintedIsRefused) {
  const std::string good = R"({"ok":true,"job":{"command":"a b","cores":1,"directory":"/d","exit_code":0,"id":1,)"
                           R"("name":"n","outcome":"failed","output":"/o","processes":1,"reason":"r","state":"ended",)"
                           R"("submitted":1,"time_limit_s":60,"user":"u"}})";
  EXPECT_NO_THROW((void)parse_answer(good));
  for (const char* text : {R"("a b")", R"("n")", R"("r")", R"("u")"})
    for (const char* sequence : {R"(\u001b[2K)", R"(\u009b1m)", R"(\u0007)", R"(\n)"}) {
      std::string bad = good;
      const std::size_t place = bad.find(std::string{":"} + text) + 2;
      bad.insert(place, sequence);
      EXPECT_THROW((void)parse_answer(bad), InputError) << bad;
    }
  const Answer refusal = parse_answer(R"({"ok":false,"error":"a\u001b[31mb\nc"})");
  EXPECT_EQ(std::get<Refused>(refusal).error.find_first_of("\x1b\n"), std::string::npos);
}

TEST(ServiceMessages, DeepOrDamagedLinesAreRefused) {
  EXPECT_NE(refusal_of(std::string(100'000, '[')), "accepted");
  EXPECT_NE(refusal_of("\xff\xfe"), "accepted");
  EXPECT_NE(refusal_of(R"({"request":"jobs"} {"request":"jobs"})"), "accepted");
  EXPECT_THROW((void)parse_answer(R"({"ok":true})"), InputError);
  EXPECT_THROW((void)parse_answer(R"({"ok":1})"), InputError);
}

TEST(ServiceMessages, TextThatIsNotUtf8IsNotSent) {
  JobRequest job = full_job();
  job.environment.emplace_back("BAD=\xff");
  EXPECT_THROW((void)to_line(Request{Submit{job}}), InputError);
  EXPECT_FALSE(is_utf8("BAD=\xff"));
  EXPECT_TRUE(is_utf8("GOOD=ä"));
}

}  // namespace
}  // namespace replay::service
