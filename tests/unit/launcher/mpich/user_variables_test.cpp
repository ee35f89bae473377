// Tests of the variables of a user that a job gets.
#include "launcher/mpich/user_variables.hpp"

#include <gtest/gtest.h>

#include <string>

namespace replay::launcher {
namespace {

class UserVariables : public testing::Test {
 protected:
  static bool is_kept(const std::string& name, const std::string& value, JobNetwork network) {
    return !variables_for_job({{name, value}}, network).kept.empty();
  }
};

TEST_F(UserVariables, ThoseOfAnotherMpiexecReachNoJob) {
  for (const char* name : {"HYDRA_LAUNCHER_AUTOFORK", "HYDRA_HOST_FILE", "HYDRA_IFACE", "HYDRA_LAUNCHER_EXTRA_ARGS",
                           "HYDRA_USE_DDD", "HYDRA_DEBUG", "HYDRA_USE_VALGRIND", "HYDRA_USE_STRACE",
                           "HYDRA_CONFIG_FILE", "HYDRA_BINDING", "HYDI_CONTROL_FD", "PMI_RANK", "PMI_FD", "PMI_SPAWNED",
                           "MPIEXEC_TIMEOUT", "MPI_LOCALNRANKS", "MPI_LOCALRANKID"}) {
    EXPECT_FALSE(is_kept(name, "1", JobNetwork::kOwn)) << name;
    EXPECT_FALSE(is_kept(name, "1", JobNetwork::kHost)) << name;
  }
  for (const char* name :
       {"PATH", "OMP_NUM_THREADS", "SLURM_JOB_ID", "PBS_NODEFILE", "I_MPI_PIN", "MPICH_ASYNC_PROGRESS",
        "MPIR_CVAR_NOLOCAL", "UCX_LOG_LEVEL", "MPI_HOME", "PMIX_MCA_psec", "LD_PRELOAD"})
    EXPECT_TRUE(is_kept(name, "1", JobNetwork::kOwn)) << name;
}

TEST_F(UserVariables, PortRangesStayInTheHostsNetworkOnly) {
  for (const char* name : {"MPIEXEC_PORT_RANGE", "MPIEXEC_PORTRANGE", "MPICH_PORT_RANGE", "MPICH_CH3_PORT_RANGE",
                           "MPIR_CVAR_CH3_PORT_RANGE", "MPIR_PARAM_PORTRANGE"}) {
    EXPECT_TRUE(is_kept(name, "25000:25010", JobNetwork::kHost)) << name;
    EXPECT_FALSE(is_kept(name, "25000:25010", JobNetwork::kOwn)) << name;
  }
  EXPECT_TRUE(is_kept("UCX_TCP_PORT_RANGE", "26000-29999", JobNetwork::kOwn));
}

TEST_F(UserVariables, ADeviceThatTheJobsNetworkLacksIsLeftOutThere) {
  const Variables missing{{"UCX_NET_DEVICES", "eth0"},
                          {"UCX_NET_DEVICES", "lo,mlx5_0:1"},
                          {"UCX_TLS", "rc,self"},
                          {"MPICH_INTERFACE_HOSTNAME", "node1"},
                          {"MPICH_INTERFACE_HOSTNAME_R0", "10.0.0.1"},
                          {"MPIR_CVAR_CH3_INTERFACE_HOSTNAME", "node1"},
                          {"MPIR_CVAR_NEMESIS_TCP_NETWORK_IFACE", "eth0"},
                          {"FI_TCP_IFACE", "eth0"},
                          {"FI_VERBS_DEVICE_NAME", "mlx5_0"}};
  EXPECT_EQ(variables_for_job(missing, JobNetwork::kOwn).missing_devices, missing);
  EXPECT_EQ(variables_for_job(missing, JobNetwork::kHost).kept, missing);
  const Variables there{{"UCX_NET_DEVICES", "lo"},
                        {"UCX_NET_DEVICES", "all"},
                        {"UCX_TLS", "tcp"},
                        {"UCX_TLS", "self,sm"},
                        {"UCX_TLS", "^rc"},
                        {"UCX_TLS", "all"},
                        {"MPICH_INTERFACE_HOSTNAME", "localhost"},
                        {"FI_TCP_IFACE", "lo"},
                        {"FI_PROVIDER", "tcp"}};
  EXPECT_EQ(variables_for_job(there, JobNetwork::kOwn).kept, there);
}

TEST_F(UserVariables, ANoteNamesThemAndTheWayOut) {
  EXPECT_EQ(note_on_missing_devices({}), std::nullopt);
  EXPECT_EQ(
      note_on_missing_devices({{"UCX_NET_DEVICES", "eth0"}, {"FI_TCP_IFACE", "e\033[1m1"}}),
      "jobs do not get UCX_NET_DEVICES=eth0, FI_TCP_IFACE=e1: a job's own network has no device but lo; jobs that "
      "need another one run with --job-network host");
}

TEST_F(UserVariables, ThreadsThatWouldShareTheCoreOfTheirRankHaveANote) {
  EXPECT_EQ(note_on_threads({{"OMP_NUM_THREADS", "1"}, {"OMP_NUM_THREADS", "2"}}),
            "OMP_NUM_THREADS=2: a rank has one core, so its threads share it, and further cores stay idle; more ranks "
            "use more cores");
  EXPECT_TRUE(note_on_threads({{"OMP_NUM_THREADS", "4,1"}}));
  for (const char* text : {"1", "1,8", "0", "-3", "", "two", "2x"})
    EXPECT_EQ(note_on_threads({{"OMP_NUM_THREADS", text}}), std::nullopt) << text;
  EXPECT_EQ(note_on_threads({{"OMP_NUM_THREADS", "2"}, {"OMP_NUM_THREADS", "1"}}), std::nullopt);
  EXPECT_EQ(note_on_threads({{"OMP_THREAD_LIMIT", "2"}}), std::nullopt);
}

}  // namespace
}  // namespace replay::launcher
