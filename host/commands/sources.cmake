# What the commands that speak to a server's operator API share. Read by host/CMakeLists.txt.
find_package(yaml-cpp REQUIRED)
list(APPEND commands
  commands/documents.cpp commands/follower.cpp commands/operator_client.cpp commands/outcomes.cpp commands/output.cpp commands/read_file.cpp
  commands/rollout.cpp commands/yaml.cpp)
list(APPEND command_libraries davit_proto PkgConfig::GRPC yaml-cpp Boost::json)
